#include "kernels/quant/codec.h"

#include "base/check.h"
#include "base/packing.h"

namespace tokamak {
namespace {

WeightCodec packed_codec(const Packing& p, uint64_t rows, uint64_t columns) {
  const auto offsets = stream_offsets(p, rows, columns);
  const auto begin = [&](std::string name, Stream stream) {
    return Constant{std::move(name), uint32_t(offsets[size_t(stream)] / 4)};
  };
  const bool has_high = p.bits == 5 || p.bits == 6;
  WeightCodec codec{
      .sources = {has_high ? "quant/bits_high.wgsl" : fmt::format("quant/bits{}.wgsl", p.bits)},
      .constants = {begin("SCALES", Stream::kScales)}};
  if (has_high) {
    codec.constants.push_back(begin("HIGH", Stream::kHigh));
    codec.constants.push_back({"HIGH_BITS", p.bits - 4u});
  }
  if (p.bits == 8) {
    const uint32_t signs = p.scaling == Scaling::kSymmetric ? 0x80808080u : 0;
    codec.constants.push_back({"FLIPPED_BITS", signs});
  }
  const auto add = [&](std::vector<std::string> sources, std::vector<Constant> constants) {
    codec.sources.insert(codec.sources.end(), sources.begin(), sources.end());
    codec.constants.insert(codec.constants.end(), constants.begin(), constants.end());
  };
  const auto add_scaled = [&](const char* source, std::vector<Constant> constants) {
    add({"quant/scales.wgsl", source}, std::move(constants));
    add({}, {{"SCALES_F32", p.scale_dtype == DType::kF32 ? 1u : 0u},
             {"SCALES_BF16", p.scale_dtype == DType::kBF16 ? 1u : 0u}});
  };
  switch (p.scaling) {
    case Scaling::kSymmetric:
      add_scaled("quant/symmetric.wgsl",
                 {{"GROUP", uint32_t(p.group)}, {"ZERO_POINT", float(1 << (p.bits - 1))}});
      break;
    case Scaling::kOffset:
      add_scaled("quant/offset.wgsl", {{"GROUP", uint32_t(p.group)}});
      break;
    case Scaling::kZero: {
      const uint32_t groups = uint32_t(columns / p.group);
      add_scaled("quant/zero.wgsl", {{"GROUP", uint32_t(p.group)},
                                     {"ROW_GROUPS", groups},
                                     {"UNUSED_ZEROS", groups % 2},
                                     begin("ZEROS", Stream::kZeros)});
      break;
    }
    case Scaling::kSuper4:
      add({"quant/super4.wgsl"}, {});
      break;
    case Scaling::kSuper6:
      add({"quant/super6.wgsl"}, {begin("ZEROS", Stream::kZeros)});
      break;
  }
  add({"quant/affine.wgsl", "quant/weights8.wgsl"}, {});
  return codec;
}

UnitCodec wide_units(const TensorDesc& matrix, std::string_view product, bool in_bytes) {
  const uint32_t bits = packing(matrix.dtype).bits;
  UnitCodec codec{wide_codec(matrix), 128 / bits, true, in_bytes};
  codec.sources.insert(codec.sources.end(),
                       {"quant/unit_words.wgsl", fmt::format("quant/units_{}.wgsl", product),
                        fmt::format("quant/{}_{}bit.wgsl", product, bits)});
  return codec;
}

}  // namespace

WeightCodec wide_codec(const TensorDesc& matrix) {
  TOK_CHECK(matrix.shape.size() == 2 && matrix.shape[1] % 8 == 0);
  if (is_packed(matrix.dtype)) {
    return packed_codec(packing(matrix.dtype), uint64_t(matrix.shape[0]),
                        uint64_t(matrix.shape[1]));
  }
  TOK_CHECK(is_float_weight(matrix.dtype));
  return {
      .sources = {fmt::format("quant/{}.wgsl", dtype_name(matrix.dtype)), "quant/weights8.wgsl"},
      .constants = {}};
}

WeightCodec native_f16_codec(const TensorDesc& matrix) {
  TOK_CHECK(matrix.dtype == DType::kF16);
  return {.sources = {"quant/f16_native.wgsl", "quant/weights8.wgsl"}, .constants = {}};
}

bool has_wide_units(const TensorDesc& matrix) {
  if (!is_packed(matrix.dtype)) return false;
  const uint32_t bits = packing(matrix.dtype).bits;
  return (bits == 4 || bits == 8) && matrix.shape[1] % (128 / bits) == 0;
}

UnitCodec unit_codec(const TensorDesc& matrix) {
  return has_wide_units(matrix) ? wide_units(matrix, "wide", false) : eight_units(matrix);
}

UnitCodec eight_units(const TensorDesc& matrix) {
  UnitCodec codec{wide_codec(matrix)};
  codec.sources.push_back("quant/units_8.wgsl");
  return codec;
}

UnitCodec byte_units(const TensorDesc& matrix) {
  TOK_CHECK(has_wide_units(matrix));
  return wide_units(matrix, "bytes", true);
}

UnitCodec native_f16_units(const TensorDesc& matrix) {
  UnitCodec codec{native_f16_codec(matrix)};
  codec.sources.push_back("quant/units_8.wgsl");
  return codec;
}

WeightCodec single_codec(const TensorDesc& matrix) {
  TOK_CHECK(is_float_weight(matrix.dtype));
  return {.sources = {"quant/single.wgsl"},
          .constants = {{"WEIGHT_BITS", matrix.dtype == DType::kF32 ? 32u : 16u},
                        {"F16", matrix.dtype == DType::kF16 ? 1u : 0u}}};
}

Launch with_codec(WeightCodec codec, Launch launch) {
  launch.sources.insert(launch.sources.begin(), codec.sources.begin(), codec.sources.end());
  launch.constants.insert(launch.constants.end(), codec.constants.begin(), codec.constants.end());
  return launch;
}

}  // namespace tokamak
