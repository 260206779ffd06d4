// Numbers in the order of the device, and scales of their own. Layouts: compressed-tensors
// (compressors/quantized_compressors), transformers' FP8 (integrations/finegrained_fp8.py),
// modelopt and mlx.core.quantize.
#include <algorithm>
#include <array>

#include "base/bits.h"
#include "base/packing.h"
#include "model/matrix_search.h"
#include "model/repack.h"

namespace tokamak {
namespace {

constexpr uint64_t kBlock = 128;
constexpr std::string_view kBlocks = "_blocks";

class ScaledSearch : MatrixSearch {
 public:
  using MatrixSearch::MatrixSearch;

  Result<std::optional<StoredMatrix>> run() {
    found_.weight = part(".weight_packed");
    const bool is_packed = found_.weight != nullptr;
    if (!is_packed) found_.weight = file_.find(name_);
    if (found_.weight == nullptr) {
      found_.weight = part(kBlocks);
      const bool is_gpt_oss = found_.weight != nullptr && found_.weight->dtype == DType::kU8;
      if (!is_gpt_oss || part("_scales") == nullptr) return std::nullopt;
      return micro("_scales");
    }
    const DType dtype = found_.weight->dtype;
    if (is_packed && is_word(*found_.weight)) return packed();
    if (dtype == DType::kF8E4M3 || dtype == DType::kI8) return scaled();
    const bool is_micro = is_packed || part(".weight_scale") != nullptr;
    if (dtype == DType::kU8 && is_micro) return micro(".weight_scale");
    const TensorInfo* scales = part(".scales");
    const bool is_mlx = dtype == DType::kU32 && scales != nullptr && scales->dtype == DType::kU8;
    if (is_mlx) return micro(".scales");
    return std::nullopt;
  }

 private:
  Result<std::optional<StoredMatrix>> scaled() {
    const TensorInfo& weight = *found_.weight;
    for (const char* suffix : {".weight_scale_inv", ".weight_scale", ".SCB"}) {
      if (found_.scales == nullptr) found_.scales = part(suffix);
    }
    if (found_.scales == nullptr) {
      const auto suffix = suffix_of_others({".weight_scale_inv", ".SCB"});
      return lacks(weight, suffix.empty() ? ".weight_scale" : suffix);
    }
    TOK_TRY(check_matrix());
    TOK_TRY(check_symmetry());
    const TensorInfo& scales = *found_.scales;
    if (!is_float_weight(scales.dtype) && scales.dtype != DType::kF8E8M0) {
      return wrong(scales, "f32, f16, bf16 or f8e8m0");
    }
    if (!scale_grid(found_)) {
      return wrong(scales, fmt::format("one scale, one for each of {} rows or one for each {} x {} "
                                       "of {}",
                                       found_.rows, kBlock, kBlock, matrix_text()));
    }
    for (const uint64_t group : {128u, 64u, 32u, 16u}) {
      if (found_.columns % group != 0) continue;
      found_.format = StoredMatrix::Format::kScaled;
      found_.group = group;
      const bool is_float = weight.dtype == DType::kF8E4M3;
      return typed({.bits = 8,
                    .group = uint16_t(group),
                    .scale = ScaleType::kF32,
                    .offset = is_float ? Offset::kNone : Offset::kMiddle,
                    .code = is_float ? Code::kE4M3 : Code::kInteger});
    }
    return wrong(weight, "a multiple of 16 columns");
  }

  /// Some writers have zero points of nothing but zeros.
  Result<void> check_symmetry() const {
    const TensorInfo* zeros = part(".weight_zero_point");
    if (zeros == nullptr) return {};
    TOK_TRY(const FileBytes bytes, file_.data(*zeros));
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (std::all_of(bytes.data(), bytes.data() + bytes.size(), is_zero)) return {};
    return refuse(*zeros, "a zero point for numbers of 8 bits");
  }

  /// MXFP4 and MXFP8 have groups of 32, NVFP4 of 16.
  Result<std::optional<StoredMatrix>> micro(std::string_view suffix) {
    const TensorInfo& weight = *found_.weight;
    TOK_TRY(found_.scales, companion(weight, suffix));
    const TensorInfo& scales = *found_.scales;
    // gpt-oss has its groups as a dimension of their own: [..., rows, groups, 16].
    uint64_t row_elements = weight.shape.empty() ? 0 : weight.shape.back();
    if (weight.name.ends_with(kBlocks) && weight.shape.size() > 1) {
      row_elements *= weight.shape[weight.shape.size() - 2];
    }
    const uint64_t row_bits = row_elements * 8 * dtype_bytes(weight.dtype);
    const uint64_t bits = row_bits / found_.columns;
    if (bits * found_.columns != row_bits || (bits != 4 && bits != 8) ||
        !has_rows(weight.elements() / row_elements)) {
      return wrong(weight, fmt::format("4 or 8 bits for each number of {}", matrix_text()));
    }
    const uint64_t groups = scales.shape.empty() ? 0 : scales.shape.back();
    const bool is_nv = groups * 16 == found_.columns && bits == 4;
    const bool is_mx = groups * 32 == found_.columns;
    const bool is_byte =
        scales.dtype == DType::kU8 || scales.dtype == (is_nv ? DType::kF8E4M3 : DType::kF8E8M0);
    if ((!is_nv && !is_mx) || rows_of(scales) != found_.rows || !is_byte) {
      return wrong(scales,
                   fmt::format("{} rows of a byte for each 32 (f4e2m1: or 16) of {} columns",
                               found_.rows, found_.columns));
    }
    if (is_nv) {
      TOK_TRY(take_factor({".weight_global_scale", ".weight_scale_2"}));
      if (found_.factor == nullptr && suffix == ".weight_scale") {
        const bool is_modelopt = weight.name.ends_with(kWeight);
        return lacks(weight, is_modelopt ? ".weight_scale_2" : ".weight_global_scale");
      }
    }
    found_.format = StoredMatrix::Format::kMicro;
    found_.group = found_.columns / groups;
    return named(is_nv ? "nvfp4" : bits == 4 ? "mxfp4" : "mxfp8");
  }

  Result<std::optional<StoredMatrix>> packed() {
    const TensorInfo& weight = *found_.weight;
    const uint64_t columns = found_.columns;
    const uint64_t row_bits = weight.shape.empty() ? 0 : weight.shape.back() * 32;
    const uint64_t bits = row_bits / columns;
    if (bits * columns != row_bits || (bits != 4 && bits != 8) || !has_rows(rows_of(weight))) {
      return wrong(weight, fmt::format("4 or 8 bits for each number of {}", matrix_text()));
    }
    if (const TensorInfo* order = part(".weight_g_idx")) {
      return refuse(*order, "a group for each column");
    }
    TOK_TRY(found_.scales, companion(weight, ".weight_scale"));
    const TensorInfo& scales = *found_.scales;
    const uint64_t groups = scales.shape.size() < 2 ? 0 : scales.shape.back();
    if (groups == 0 || columns % groups != 0 || rows_of(scales) != found_.rows ||
        !is_float_weight(scales.dtype)) {
      return wrong(scales, fmt::format("{} rows of a float for each group of {} columns",
                                       found_.rows, columns));
    }
    found_.zeros = part(".weight_zero_point");
    const std::vector<uint64_t> expected = {found_.rows * bits / 32, groups};
    if (found_.zeros != nullptr && (!is_word(*found_.zeros) || found_.zeros->shape != expected)) {
      return wrong(*found_.zeros, fmt::format("i32[{}, {}]", expected[0], expected[1]));
    }
    found_.format = StoredMatrix::Format::kPacked;
    found_.group = columns / groups;
    if (part_group() > 128) {
      return refuse(scales, fmt::format("a scale per {} columns", part_group()));
    }
    const bool has_zeros = found_.zeros != nullptr;
    // Symmetric numbers of 8 bits have scales in f32 alone on the device.
    return typed({.bits = uint8_t(bits),
                  .group = uint16_t(part_group()),
                  .scale = bits == 8 && !has_zeros ? ScaleType::kF32 : scale_of(scales.dtype),
                  .offset = has_zeros ? Offset::kZero : Offset::kMiddle});
  }

  Result<std::optional<StoredMatrix>> named(std::string_view type) {
    found_.dtype = dtype_from_name(type).value();
    return found_;
  }
  Result<std::optional<StoredMatrix>> typed(const WeightFormat& wanted) {
    if (const auto dtype = packed_dtype(wanted)) {
      found_.dtype = *dtype;
      return found_;
    }
    return refuse(*found_.scales, fmt::format("a scale per {} columns", wanted.group));
  }
};

}  // namespace

std::optional<ScaleGrid> scale_grid(const StoredMatrix& stored) {
  const std::vector<uint64_t>& shape = stored.scales->shape;
  const uint64_t rows = stored.rows, columns = stored.columns;
  if (stored.scales->elements() == 1) return ScaleGrid{rows, columns};
  const bool is_column = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (is_column && shape[0] == rows) return ScaleGrid{1, columns};
  const uint64_t down = ceil_div(rows, kBlock), across = ceil_div(columns, kBlock);
  if (shape == std::vector<uint64_t>{down, across}) return ScaleGrid{kBlock, kBlock};
  return std::nullopt;
}

Result<std::optional<StoredMatrix>> locate_scaled(const TensorFile& file, const std::string& name,
                                                  uint64_t rows, uint64_t columns) {
  return ScaledSearch(file, name, rows, columns).run();
}

}  // namespace tokamak
