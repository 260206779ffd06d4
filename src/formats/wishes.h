// Wishes: the tensors that a builder asks for, granted as it names them. So a graph can be built
// from a config alone: to compare an architecture with a checkpoint that it cannot read, and to
// test it without one.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"

namespace tokamak {

class Wishes {
 public:
  using Names = std::set<std::string, std::less<>>;

  /// From now on tensors that a file lacks are granted on this thread, while the object lives.
  /// `promised` decides which of the optional tensors there are, and which prefix names have.
  explicit Wishes(Names promised = {});
  ~Wishes();
  Wishes(const Wishes&) = delete;
  Wishes& operator=(const Wishes&) = delete;

  /// Null where there are none on this thread.
  static Wishes* current();

  bool promises(std::string_view name) const { return promised_.contains(name); }

  /// A tensor of f32 in the first file; the first wish for a name decides its shape.
  const TensorInfo* grant(std::string_view name, const std::vector<uint64_t>& shape);

  /// By name.
  const std::map<std::string, TensorInfo, std::less<>>& granted() const { return granted_; }

 private:
  Wishes* const outer_;
  Names promised_;
  std::map<std::string, TensorInfo, std::less<>> granted_;
};

/// The tensor of that name; where the file lacks it, a granted one of that shape or null.
const TensorInfo* find_or_wish(const TensorFile& file, std::string_view name,
                               const std::vector<uint64_t>& shape);

/// Whether the tensor is there, granted or promised.
bool offers(const TensorFile& file, std::string_view name);

}  // namespace tokamak
