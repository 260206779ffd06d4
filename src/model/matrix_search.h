// The common part of the searches for matrices in a checkpoint: the tensors beside "X.weight", and
// errors that name them.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "model/stored_matrix.h"

namespace tokamak {

inline constexpr std::string_view kWeight = ".weight";

/// "X" of "X.weight".
inline std::string_view module_of(std::string_view name) {
  if (name.ends_with(kWeight)) name.remove_suffix(kWeight.size());
  return name;
}

/// Rows of a tensor of more dimensions are those of its last one.
inline uint64_t rows_of(const TensorInfo& tensor) {
  const bool is_empty = tensor.shape.empty() || tensor.shape.back() == 0;
  return is_empty ? 0 : tensor.elements() / tensor.shape.back();
}

class MatrixSearch {
 public:
  /// `rows` 0: any number.
  MatrixSearch(const TensorFile& file, const std::string& name, uint64_t rows, uint64_t columns)
      : file_(file), name_(name), module_(module_of(name)) {
    found_.rows = rows;
    found_.columns = columns;
  }

 protected:
  const TensorInfo* part(std::string_view suffix) const {
    return file_.find(module_ + std::string(suffix));
  }
  Failure refuse(const TensorInfo& tensor, std::string_view how) const {
    return unsupported("{}: tensor \"{}\" is {}, {}; docs/models.md lists what this engine reads.",
                       file_.file_name(tensor), tensor.name, describe(tensor), how);
  }
  Failure wrong(const TensorInfo& tensor, std::string_view expected) const {
    return invalid_input("{}: tensor \"{}\" is {}, expected {}.", file_.file_name(tensor),
                         tensor.name, describe(tensor), expected);
  }
  std::string matrix_text() const {
    return found_.rows == 0 ? fmt::format("rows of {} columns", found_.columns)
                            : fmt::format("[{}, {}]", found_.rows, found_.columns);
  }
  /// Takes the rows from the file where the caller does not know them.
  bool has_rows(uint64_t rows) {
    if (found_.rows == 0) found_.rows = rows;
    return found_.rows == rows && rows != 0;
  }
  Failure lacks(const TensorInfo& packed, std::string_view suffix) const {
    return invalid_input("{}: tensor \"{}\" is {}, but there is no \"{}{}\" to unpack it with.",
                         file_.file_name(packed), packed.name, describe(packed), module_, suffix);
  }
  Result<const TensorInfo*> companion(const TensorInfo& packed, std::string_view suffix) const {
    if (const TensorInfo* found = part(suffix)) return found;
    return lacks(packed, suffix);
  }
  /// The first of these that other matrices of the file have beside them; "" where none does.
  std::string_view suffix_of_others(std::initializer_list<std::string_view> suffixes) const {
    for (const std::string_view suffix : suffixes) {
      for (const TensorInfo& tensor : file_.tensors()) {
        if (tensor.name.ends_with(suffix)) return suffix;
      }
    }
    return "";
  }

  Result<void> check_matrix() {
    const TensorInfo& weight = *found_.weight;
    if (weight.shape.empty() || weight.shape.back() != found_.columns ||
        !has_rows(rows_of(weight))) {
      return wrong(weight, matrix_text() + " as config.json says");
    }
    return {};
  }

  /// Finds the factor of the whole matrix, if there is one, by the first suffix that there is.
  Result<void> take_factor(std::initializer_list<std::string_view> suffixes) {
    for (const std::string_view suffix : suffixes) {
      if (found_.factor == nullptr) found_.factor = part(suffix);
    }
    const TensorInfo* factor = found_.factor;
    if (factor == nullptr || (factor->dtype == DType::kF32 && factor->elements() == 1)) return {};
    return wrong(*factor, "one f32");
  }

  /// A group of any multiple of 128 is some of 128 that say the same.
  uint64_t part_group() const { return found_.group % 128 == 0 ? 128 : found_.group; }

  static bool is_word(const TensorInfo& tensor) {
    return tensor.dtype == DType::kI32 || tensor.dtype == DType::kU32;
  }

  const TensorFile& file_;
  const std::string& name_;
  const std::string module_;
  StoredMatrix found_;
};

/// How far the scale of a kScaled matrix reaches.
struct ScaleGrid {
  uint64_t rows = 0, columns = 0;
};
/// Nothing where the scales are of no shape that is read.
std::optional<ScaleGrid> scale_grid(const StoredMatrix& stored);

/// Matrices whose scales are tensors of their own beside rows of bytes or words: FP8, int8, MXFP4,
/// NVFP4 and 4 bits as compressed-tensors, DeepSeek, modelopt, bitsandbytes and MLX write them.
/// Nothing where the tensors are none of those.
Result<std::optional<StoredMatrix>> locate_scaled(const TensorFile& file, const std::string& name,
                                                  uint64_t rows, uint64_t columns);

/// NF4 of bitsandbytes. Nothing where the tensors are none of those.
Result<std::optional<StoredMatrix>> locate_bitsandbytes(const TensorFile& file,
                                                        const std::string& name, uint64_t rows,
                                                        uint64_t columns);

}  // namespace tokamak
