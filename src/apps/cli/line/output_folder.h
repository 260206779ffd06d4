// Folders of models that a command writes.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "apps/cli/line/output_file.h"

namespace tokamak::cli {

/// Whether the folder may be made, before any work.
Result<void> check_output_folder(const std::string& path);

/// A folder that is renamed when all of it is there. Without commit() nothing is left of it.
class WholeFolder {
 public:
  static Result<WholeFolder> make(const std::string& path);
  WholeFolder(WholeFolder&& other) noexcept;
  WholeFolder& operator=(WholeFolder&&) = delete;
  ~WholeFolder();

  /// Writes a file of it, whole or not at all; `make` gives its bytes to what it is called with.
  using Put = std::function<Result<void>(std::span<const std::byte>)>;
  Result<void> write(const std::string& name, const std::function<Result<void>(const Put&)>& make);
  /// The path of a file of it, until commit().
  std::string place_of(const std::string& name) const;
  /// Copies the files beside the weights of a model: configs, the tokenizer, templates.
  Result<void> copy_others(const std::string& model) const;
  Result<void> commit();

 private:
  explicit WholeFolder(std::string path);

  std::string path_, partial_;
};

}  // namespace tokamak::cli
