#include "model/stored_matrix.h"

#include "base/packing.h"
#include "formats/wishes.h"
#include "model/matrix_search.h"
#include "model/repack.h"

namespace tokamak {
namespace {

class Locator : MatrixSearch {
 public:
  using MatrixSearch::MatrixSearch;

  Result<StoredMatrix> run() {
    found_.weight = file_.find(name_);
    for (const auto& locate_other : {locate_scaled, locate_bitsandbytes}) {
      TOK_TRY(const auto other, locate_other(file_, name_, found_.rows, found_.columns));
      if (other) return *other;
    }
    if (found_.weight == nullptr) return other_names();
    const DType dtype = found_.weight->dtype;
    if (is_packed(dtype)) return blocks();
    if (is_float_weight(dtype)) return plain();
    if (dtype == DType::kU32) return affine();
    const auto suffix = suffix_of_others({".weight.absmax", ".weight_scale"});
    if (dtype == DType::kU8 && !suffix.empty()) return lacks(*found_.weight, suffix);
    return unsupported(
        "{}: tensor \"{}\" has element type {}, expected f32, f16, bf16 or a packing that "
        "docs/models.md lists.",
        file_.file_name(*found_.weight), name_, dtype_name(dtype));
  }

 private:
  Result<StoredMatrix> other_names() {
    if (const TensorInfo* qweight = part(".qweight")) {
      found_.weight = qweight;
      return gptq();
    }
    if (const TensorInfo* packed = part(".weight_packed")) {
      return refuse(*packed, "packed as no form of compressed-tensors that is read");
    }
    if (found_.rows == 0) return invalid_input("The checkpoint has no tensor \"{}\".", name_);
    found_.weight = find_or_wish(file_, name_, {found_.rows, found_.columns});
    if (found_.weight != nullptr) return plain();
    return invalid_input(
        "The checkpoint has no tensor \"{}\"; the config asks for one of shape {}.", name_,
        matrix_text());
  }

  Result<StoredMatrix> plain() {
    const TensorInfo& weight = *found_.weight;
    found_.transposed =
        is_transposed(weight, found_.columns) && has_rows(weight.elements() / found_.columns);
    if (!found_.transposed) TOK_TRY(check_matrix());
    found_.dtype = found_.weight->dtype;
    return found_;
  }

  Result<StoredMatrix> blocks() {
    const TensorInfo& weight = *found_.weight;
    TOK_TRY(check_matrix());
    const WeightFormat& p = weight_format(weight.dtype);
    if (found_.columns % p.row_unit() != 0) {
      return wrong(weight, fmt::format("a multiple of {} columns", p.row_unit()));
    }
    if (weight.bytes != found_.rows * block_row_bytes(weight.dtype, found_.columns)) {
      return wrong(weight, fmt::format("other than {} bytes of it", weight.bytes));
    }
    found_.format = StoredMatrix::Format::kBlocks;
    found_.dtype = weight.dtype;
    if (p.scale == ScaleType::kE4M3) {
      TOK_TRY(take_factor({".scale"}));
    }
    return found_;
  }

  Result<StoredMatrix> affine() {
    const TensorInfo& weight = *found_.weight;
    const uint64_t columns = found_.columns;
    TOK_TRY(found_.scales, companion(weight, ".scales"));
    found_.zeros = part(".biases");
    if (found_.zeros == nullptr) {
      return refuse(weight, fmt::format("whose \"{}.scales\" come without biases", module_));
    }
    if (weight.shape.size() < 2 || !has_rows(rows_of(weight))) {
      return wrong(weight, "the packed rows of " + matrix_text());
    }
    const uint64_t row_bits = weight.shape.back() * 32, bits = row_bits / columns;
    if (bits * columns != row_bits || bits < 2 || bits > 8) {
      return wrong(weight, fmt::format("2, 3, 4, 5, 6 or 8 bits for each of {} columns", columns));
    }
    if (bits == 7) return refuse(weight, fmt::format("7 bits for each of {} columns", columns));
    const TensorInfo &scales = *found_.scales, &biases = *found_.zeros;
    const uint64_t groups = scales.shape.empty() ? 0 : scales.shape.back();
    if (groups == 0 || columns % groups != 0 || rows_of(scales) != found_.rows) {
      return wrong(scales, fmt::format("{} rows of a scale per 32, 64 or 128 columns of {}",
                                       found_.rows, columns));
    }
    if (biases.shape != scales.shape || biases.dtype != scales.dtype) {
      return wrong(biases, describe(scales) + " like the scales");
    }
    found_.group = columns / groups;
    found_.format = StoredMatrix::Format::kAffine;
    return with_type(uint32_t(bits), found_.group, Offset::kStored);
  }

  Result<StoredMatrix> gptq() {
    const TensorInfo& weight = *found_.weight;
    const uint64_t columns = found_.columns;
    if (weight.shape.size() != 2 || !is_word(weight)) {
      return wrong(weight, "i32[columns * bits / 32, rows]");
    }
    if (weight.shape[0] == columns) return awq();
    const uint64_t row_bits = weight.shape[0] * 32, bits = row_bits / columns;
    if (bits * columns != row_bits || (bits != 2 && bits != 3 && bits != 4 && bits != 8)) {
      return wrong(weight,
                   fmt::format("words of 2, 3, 4 or 8 bits for each of {} columns", columns));
    }
    const uint64_t rows = weight.shape[1];
    if (!has_rows(rows) || rows * bits % 32 != 0) {
      return wrong(weight, fmt::format("the words of {}, the {} bits of whose rows fill words",
                                       matrix_text(), bits));
    }
    TOK_TRY(scales_and_zeros(rows * bits / 32));
    found_.format = StoredMatrix::Format::kGptq;
    TOK_TRY(groups_of_columns());
    TOK_TRY(found_.zero_format, zero_format(file_, *found_.zeros, uint32_t(bits)));
    const bool is_whole = found_.zero_format == ZeroFormat::kWhole;
    return with_type(uint32_t(bits), part_group(), is_whole ? Offset::kZero : Offset::kNextZero);
  }

  Result<StoredMatrix> awq() {
    const TensorInfo& weight = *found_.weight;
    if (!has_rows(weight.shape[1] * 8)) {
      return wrong(weight, "the words of 8 rows of " + matrix_text());
    }
    TOK_TRY(scales_and_zeros(weight.shape[1]));
    found_.format = StoredMatrix::Format::kAwq;
    return with_type(4, part_group(), Offset::kZero);
  }

  /// Both have a row for each group of columns; that of the zeros has `words`.
  Result<void> scales_and_zeros(uint64_t words) {
    TOK_TRY(found_.scales, companion(*found_.weight, ".scales"));
    TOK_TRY(found_.zeros, companion(*found_.weight, ".qzeros"));
    const TensorInfo &scales = *found_.scales, &zeros = *found_.zeros;
    const uint64_t rows = found_.rows, columns = found_.columns;
    if (scales.shape.size() != 2 || scales.shape[1] != rows || scales.shape[0] == 0 ||
        columns % scales.shape[0] != 0) {
      return wrong(scales, fmt::format("[groups, {}] with groups dividing {}", rows, columns));
    }
    const uint64_t groups = scales.shape[0];
    if (!is_word(zeros) || zeros.shape != std::vector<uint64_t>{groups, words}) {
      return wrong(zeros, fmt::format("i32[{}, {}]", groups, words));
    }
    found_.group = columns / groups;
    return {};
  }

  Result<void> groups_of_columns() {
    const TensorInfo* groups = part(".g_idx");
    if (groups == nullptr || groups->elements() == 0) return {};
    if (groups->dtype != DType::kI32 || groups->shape != std::vector<uint64_t>{found_.columns}) {
      return wrong(*groups, fmt::format("i32[{}]", found_.columns));
    }
    TOK_TRY(const bool in_order, counts_up(file_, *groups, found_.group));
    if (!in_order) found_.groups = groups;
    return {};
  }

  Result<StoredMatrix> with_type(uint32_t bits, uint64_t group, Offset offset) {
    const TensorInfo& scales = *found_.scales;
    const bool is_read = group <= 128 && is_float_weight(scales.dtype);
    const auto dtype = is_read ? packed_dtype({.bits = uint8_t(bits),
                                               .group = uint16_t(group),
                                               .scale = scale_of(scales.dtype),
                                               .offset = offset})
                               : std::nullopt;
    if (!dtype) {
      return unsupported(
          "{}: tensor \"{}\" is {}, a scale per {} columns; this engine reads {} scales per 32, 64 "
          "or 128 columns.",
          file_.file_name(scales), scales.name, describe(scales), found_.group,
          found_.format != StoredMatrix::Format::kAffine ? "f16 and bf16" : "f32, f16 and bf16");
    }
    found_.dtype = *dtype;
    return found_;
  }
};

/// Numbers whose groups have an order, or a zero, that the file lacks would be misread.
Result<void> check_promises(const TensorFile& file, const StoredMatrix& found,
                            std::string_view module, const Quantization& declared) {
  for (const Quantization::Promise& promise : declared.promises) {
    if (promise.bits != 0 && promise.bits != weight_format(found.dtype).bits) continue;
    if (promise.suffix.ends_with("g_idx") && found.group == found.columns) continue;
    const std::string expected = std::string(module) + promise.suffix;
    const TensorInfo* tensor = file.find(expected);
    if (tensor != nullptr && tensor->elements() != 0) continue;
    return invalid_input("{}, but there is no tensor \"{}\" beside \"{}\".", promise.by, expected,
                         found.weight->name);
  }
  return {};
}

/// config.json must not contradict the tensors: one of them would be misread.
Result<void> check_declared(const TensorFile& file, const StoredMatrix& found,
                            std::string_view name, const Quantization& declared) {
  using Format = StoredMatrix::Format;
  if (found.format == Format::kPlain || found.format == Format::kBlocks) return {};
  const Quantization::Numbers& numbers = declared.of(module_of(name));
  const uint32_t bits = weight_format(found.dtype).bits;
  if (numbers.bits != 0 && numbers.bits != bits) {
    return invalid_input(
        "{}: bits is {} for \"{}\", but tensor \"{}\" is {}, {} bits for each of {} "
        "columns.",
        declared.where, numbers.bits, module_of(name), found.weight->name, describe(*found.weight),
        bits, found.columns);
  }
  if (numbers.group != 0 && numbers.group != found.group) {
    return invalid_input(
        "{}: group_size is {} for \"{}\", but tensor \"{}\" is {}, a scale per {} "
        "columns.",
        declared.where, numbers.group, module_of(name), found.scales->name, describe(*found.scales),
        found.group);
  }
  return check_promises(file, found, module_of(name), declared);
}

}  // namespace

bool is_transposed(const TensorInfo& tensor, uint64_t columns) {
  const std::vector<uint64_t>& shape = tensor.shape;
  if (!is_float_weight(tensor.dtype)) return false;
  if (tensor.transposed) return shape.size() == 2 && shape[0] == columns;
  return shape.size() == 3 && shape[1] == columns && shape[2] != columns && columns > 1 &&
         shape[2] > 1;
}

Result<StoredMatrix> locate(const TensorFile& file, const std::string& name, uint64_t columns) {
  return Locator(file, name, 0, columns).run();
}

Result<StoredMatrix> locate(const TensorFile& file, const std::string& name, uint64_t rows,
                            uint64_t columns, const Quantization& declared) {
  TOK_TRY(StoredMatrix found, Locator(file, name, rows, columns).run());
  TOK_TRY(check_declared(file, found, name, declared));
  if (found.format == StoredMatrix::Format::kGptq && declared.has_whole_zeros &&
      found.zero_format == ZeroFormat::kUnknown) {
    WeightFormat wanted = weight_format(found.dtype);
    wanted.offset = Offset::kZero;
    if (const auto type = packed_dtype(wanted)) found.dtype = *type;
  }
  return found;
}

}  // namespace tokamak
