#include "kernels/quant/codec.h"

#include "base/check.h"
#include "base/packing.h"

namespace tokamak {
namespace {

/// Puts the codec of a row together: a text for each of its properties.
class Writer {
 public:
  Writer(const WeightFormat& format, uint64_t rows, uint64_t columns)
      : format_(format),
        offsets_(stream_offsets(format, rows, columns)),
        row_groups_(uint32_t(columns / format.group)) {}

  WeightCodec run() {
    numbers();
    code();
    scales();
    offset();
    add("affine");
    add("weights8");
    return std::move(codec_);
  }

 private:
  void add(std::string_view source, std::initializer_list<Constant> constants = {}) {
    codec_.sources.push_back(fmt::format("quant/{}.wgsl", source));
    codec_.constants.insert(codec_.constants.end(), constants);
  }
  Constant begin(std::string name, Stream stream) const {
    return {std::move(name), uint32_t(offsets_[size_t(stream)] / 4)};
  }

  void numbers() {
    if (format_.high_bits() != 0) {
      add("bits_high", {begin("HIGH", Stream::kHigh),
                        {"LOW_BITS", format_.low_bits()},
                        {"HIGH_BITS", format_.high_bits()}});
      return;
    }
    add(fmt::format("bits{}", format_.bits));
    if (format_.bits != 8) return;
    const bool is_signed = format_.code == Code::kInteger && format_.offset == Offset::kMiddle;
    codec_.constants.push_back({"FLIPPED_BITS", is_signed ? 0x80808080u : 0});
  }

  void code() {
    if (format_.code == Code::kE4M3 || format_.scale == ScaleType::kE4M3) add("e4m3");
    if (format_.code == Code::kInteger) return add("integers");
    if (format_.code == Code::kE4M3) return add("floats8");
    const Levels& levels = *format_.levels;
    if (&levels == &kE2m1Levels) return add("floats4");
    add("levels");
    if (levels.unit == 0) {
      add("level_floats");
      for (uint32_t q = 0; q < levels.values.size(); ++q) {
        codec_.constants.push_back({fmt::format("LEVEL_{}", q), levels.values[q]});
      }
      return;
    }
    add("level_bytes", {{"LEVEL_UNIT", levels.unit}});
    for (uint32_t word = 0; word < 4; ++word) {
      uint32_t bytes = 0;
      for (uint32_t i = 0; i < 4; ++i) {
        bytes |= uint32_t(uint8_t(int8_t(levels.values[4 * word + i]))) << (8 * i);
      }
      codec_.constants.push_back({fmt::format("LEVELS_{}", word), bytes});
    }
  }

  void scales() {
    codec_.constants.push_back(begin("SCALES", Stream::kScales));
    switch (format_.scale) {
      case ScaleType::kPairs4:
        return add("super2");
      case ScaleType::kPairs6:
        return add("super4");
      case ScaleType::kBytes:
        return add("scales_bytes", {begin("ZEROS", Stream::kZeros)});
      case ScaleType::kE8M0:
        return add("scales_e8m0");
      case ScaleType::kE4M3:
        return add("scales_e4m3", {begin("ZEROS", Stream::kZeros), {"ROW_GROUPS", row_groups_}});
      default:
        return add("scales", {{"SCALES_F32", format_.scale == ScaleType::kF32 ? 1u : 0u},
                              {"SCALES_BF16", format_.scale == ScaleType::kBF16 ? 1u : 0u}});
    }
  }

  void offset() {
    if (format_.scale == ScaleType::kPairs4 || format_.scale == ScaleType::kPairs6) return;
    codec_.constants.push_back({"GROUP", uint32_t{format_.group}});
    switch (format_.offset) {
      case Offset::kNone:
        return add("no_offset");
      case Offset::kMiddle:
        return add("symmetric", {{"ZERO_POINT", float(1 << (format_.bits - 1))}});
      case Offset::kStored:
        return add("offset");
      case Offset::kZero:
      case Offset::kNextZero:
        return add("zero", {begin("ZEROS", Stream::kZeros),
                            {"ZERO_SHIFT", format_.offset == Offset::kNextZero ? 1.0f : 0.0f}});
    }
  }

  const WeightFormat& format_;
  std::array<uint64_t, 5> offsets_;
  uint32_t row_groups_;
  WeightCodec codec_;
};

UnitCodec wide_units(const TensorDesc& matrix, std::string_view product, bool in_bytes) {
  const uint32_t bits = weight_format(matrix.dtype).bits;
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
    return Writer(weight_format(matrix.dtype), uint64_t(matrix.shape[0]), uint64_t(matrix.shape[1]))
        .run();
  }
  TOK_CHECK(is_float_weight(matrix.dtype));
  return {
      .sources = {fmt::format("quant/{}.wgsl", dtype_name(matrix.dtype)), "quant/weights8.wgsl"},
      .constants = {}};
}

namespace {

/// The text that makes them. Products w = s v(q) of two numbers of f16 are computed in f16, which
/// gives the same bits as f32.
std::string_view halves_source(DType dtype) {
  if (!is_packed(dtype)) return "floats";
  const WeightFormat& format = weight_format(dtype);
  if (format.levels == &kE2m1Levels && format.scale == ScaleType::kE8M0) return "e2m1";
  const bool is_symmetric = format.code == Code::kInteger && format.offset == Offset::kMiddle &&
                            format.scale == ScaleType::kF16;
  if (is_symmetric && format.bits == 4) return "4bit";
  return is_symmetric && format.bits == 8 ? "8bit" : "affine";
}

}  // namespace

WeightCodec halves_codec(const TensorDesc& matrix) {
  WeightCodec codec = wide_codec(matrix);
  codec.sources.push_back(fmt::format("quant/halves_{}.wgsl", halves_source(matrix.dtype)));
  return codec;
}

WeightCodec native_f16_codec(const TensorDesc& matrix) {
  TOK_CHECK(matrix.dtype == DType::kF16);
  return {.sources = {"quant/f16_native.wgsl", "quant/weights8.wgsl"}, .constants = {}};
}

bool has_wide_units(const TensorDesc& matrix) {
  if (!is_packed(matrix.dtype)) return false;
  const WeightFormat& format = weight_format(matrix.dtype);
  if (format.code != Code::kInteger || (format.bits != 4 && format.bits != 8)) return false;
  const uint32_t unit = 128u / format.bits;
  return format.group % unit == 0 && matrix.shape[1] % unit == 0;
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
