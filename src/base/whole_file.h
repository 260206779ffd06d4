// A file that readers see whole or not at all, whoever else writes it at the same time. Native
// builds only.
#pragma once
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace tokamak {

/// Whether a file of that name is one on its way to a name that ends in `ending`.
bool is_partial_of(std::string_view name, std::string_view ending);

/// Written beside its place under a name of its own, and renamed at the end: one step of the file
/// system. Without commit() nothing is left of it.
class WholeFile {
 public:
  explicit WholeFile(std::string path);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();

  void put(std::span<const std::byte> bytes);
  /// False after a write that failed.
  bool good() const { return file_.good(); }
  /// True when the whole file is in its place now.
  bool commit();

 private:
  std::string path_, partial_;
  std::ofstream file_;
};

}  // namespace tokamak
