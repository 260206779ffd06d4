// The rows of WeightFormat, and the levels of those that have such.
#include "base/check.h"
#include "base/packing.h"

namespace tokamak {

constinit const Levels kIq4Levels = {
    {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}, 1};
constinit const Levels kTernaryLevels = {{-1, 0, 1, 2}, 1};
constinit const Levels kE2m1Levels = {{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12},
                                      0.5f};
constinit const Levels kIq1Levels = {{-7, 1, 9, -9, -1, 7}, 0.125f};
constinit const Levels kIq2Levels = {{8, 25, 43, -8, -25, -43}, 0.125f};
constinit const Levels kIq3XxsLevels = {
    {4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62}, 0.25f};
constinit const Levels kIq3SLevels = {
    {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15}, 1};
constinit const Levels kNf4Levels = {
    {-1, -0.696192801f, -0.525073051f, -0.394917488f, -0.284441382f, -0.18477343f, -0.0910500363f,
     0, 0.0795802996f, 0.160930201f, 0.246112302f, 0.337915242f, 0.440709829f, 0.562617004f,
     0.722956836f, 1},
    0};

namespace {

// The first are in the order of the packed enumerators of DType.
constexpr WeightFormat kFormats[] = {
    {"q8_0", 8, 32, ScaleType::kF16, Offset::kMiddle},
    {"q4_0", 4, 32, ScaleType::kF16, Offset::kMiddle},
    {"q4_1", 4, 32, ScaleType::kF16, Offset::kStored},
    {"q5_0", 5, 32, ScaleType::kF16, Offset::kMiddle},
    {"q5_1", 5, 32, ScaleType::kF16, Offset::kStored},
    {"q4_k", 4, 32, ScaleType::kPairs6, Offset::kStored},
    {"q5_k", 5, 32, ScaleType::kPairs6, Offset::kStored},
    {"q6_k", 6, 16, ScaleType::kBytes, Offset::kMiddle},
    {"affine4_g32_bf16", 4, 32, ScaleType::kBF16, Offset::kStored},
    {"affine4_g32_f32", 4, 32, ScaleType::kF32, Offset::kStored},
    {"affine4_g64_f16", 4, 64, ScaleType::kF16, Offset::kStored},
    {"affine4_g64_bf16", 4, 64, ScaleType::kBF16, Offset::kStored},
    {"affine4_g64_f32", 4, 64, ScaleType::kF32, Offset::kStored},
    {"affine4_g128_f16", 4, 128, ScaleType::kF16, Offset::kStored},
    {"affine4_g128_bf16", 4, 128, ScaleType::kBF16, Offset::kStored},
    {"affine4_g128_f32", 4, 128, ScaleType::kF32, Offset::kStored},
    {"affine8_g32_f16", 8, 32, ScaleType::kF16, Offset::kStored},
    {"affine8_g32_bf16", 8, 32, ScaleType::kBF16, Offset::kStored},
    {"affine8_g32_f32", 8, 32, ScaleType::kF32, Offset::kStored},
    {"affine8_g64_f16", 8, 64, ScaleType::kF16, Offset::kStored},
    {"affine8_g64_bf16", 8, 64, ScaleType::kBF16, Offset::kStored},
    {"affine8_g64_f32", 8, 64, ScaleType::kF32, Offset::kStored},
    {"affine8_g128_f16", 8, 128, ScaleType::kF16, Offset::kStored},
    {"affine8_g128_bf16", 8, 128, ScaleType::kBF16, Offset::kStored},
    {"affine8_g128_f32", 8, 128, ScaleType::kF32, Offset::kStored},
    {"zero4_g32_f16", 4, 32, ScaleType::kF16, Offset::kNextZero},
    {"zero4_g32_bf16", 4, 32, ScaleType::kBF16, Offset::kNextZero},
    {"zero4_g64_f16", 4, 64, ScaleType::kF16, Offset::kNextZero},
    {"zero4_g64_bf16", 4, 64, ScaleType::kBF16, Offset::kNextZero},
    {"zero4_g128_f16", 4, 128, ScaleType::kF16, Offset::kNextZero},
    {"zero4_g128_bf16", 4, 128, ScaleType::kBF16, Offset::kNextZero},
    // Types of GGUF.
    {"q2_k", 2, 16, ScaleType::kPairs4, Offset::kStored},
    {"q3_k", 3, 16, ScaleType::kBytes, Offset::kMiddle},
    {"iq4_nl", 4, 32, ScaleType::kF16, Offset::kNone, Code::kLevels, &kIq4Levels},
    {"iq4_xs", 4, 32, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq4Levels},
    {"tq1_0", 2, 256, ScaleType::kF16, Offset::kNone, Code::kLevels, &kTernaryLevels},
    {"tq2_0", 2, 256, ScaleType::kF16, Offset::kNone, Code::kLevels, &kTernaryLevels},
    {"q1_0", 2, 128, ScaleType::kF16, Offset::kNone, Code::kLevels, &kTernaryLevels},
    {"q2_0", 2, 64, ScaleType::kF16, Offset::kNone, Code::kLevels, &kTernaryLevels},
    {"mxfp4", 4, 32, ScaleType::kE8M0, Offset::kNone, Code::kLevels, &kE2m1Levels},
    {"nvfp4", 4, 16, ScaleType::kE4M3, Offset::kNone, Code::kLevels, &kE2m1Levels},
    {"iq1_s", 3, 32, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq1Levels},
    {"iq1_m", 3, 16, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq1Levels},
    {"iq2_xxs", 3, 32, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq2Levels},
    {"iq2_xs", 3, 16, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq2Levels},
    {"iq2_s", 3, 16, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq2Levels},
    {"iq3_xxs", 4, 32, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq3XxsLevels},
    {"iq3_s", 4, 32, ScaleType::kBytes, Offset::kNone, Code::kLevels, &kIq3SLevels},
    // Packings of safetensors.
    {"mxfp8", 8, 32, ScaleType::kE8M0, Offset::kNone, Code::kE4M3},
    {"f8e4m3_g16", 8, 16, ScaleType::kF32, Offset::kNone, Code::kE4M3},
    {"f8e4m3_g32", 8, 32, ScaleType::kF32, Offset::kNone, Code::kE4M3},
    {"f8e4m3_g64", 8, 64, ScaleType::kF32, Offset::kNone, Code::kE4M3},
    {"f8e4m3_g128", 8, 128, ScaleType::kF32, Offset::kNone, Code::kE4M3},
    {"nf4_g32", 4, 32, ScaleType::kF32, Offset::kNone, Code::kLevels, &kNf4Levels},
    {"nf4_g64", 4, 64, ScaleType::kF32, Offset::kNone, Code::kLevels, &kNf4Levels},
    {"nf4_g128", 4, 128, ScaleType::kF32, Offset::kNone, Code::kLevels, &kNf4Levels},
    {"affine2_g32_f16", 2, 32, ScaleType::kF16, Offset::kStored},
    {"affine2_g32_bf16", 2, 32, ScaleType::kBF16, Offset::kStored},
    {"affine2_g32_f32", 2, 32, ScaleType::kF32, Offset::kStored},
    {"affine2_g64_f16", 2, 64, ScaleType::kF16, Offset::kStored},
    {"affine2_g64_bf16", 2, 64, ScaleType::kBF16, Offset::kStored},
    {"affine2_g64_f32", 2, 64, ScaleType::kF32, Offset::kStored},
    {"affine2_g128_f16", 2, 128, ScaleType::kF16, Offset::kStored},
    {"affine2_g128_bf16", 2, 128, ScaleType::kBF16, Offset::kStored},
    {"affine2_g128_f32", 2, 128, ScaleType::kF32, Offset::kStored},
    {"affine3_g32_f16", 3, 32, ScaleType::kF16, Offset::kStored},
    {"affine3_g32_bf16", 3, 32, ScaleType::kBF16, Offset::kStored},
    {"affine3_g32_f32", 3, 32, ScaleType::kF32, Offset::kStored},
    {"affine3_g64_f16", 3, 64, ScaleType::kF16, Offset::kStored},
    {"affine3_g64_bf16", 3, 64, ScaleType::kBF16, Offset::kStored},
    {"affine3_g64_f32", 3, 64, ScaleType::kF32, Offset::kStored},
    {"affine3_g128_f16", 3, 128, ScaleType::kF16, Offset::kStored},
    {"affine3_g128_bf16", 3, 128, ScaleType::kBF16, Offset::kStored},
    {"affine3_g128_f32", 3, 128, ScaleType::kF32, Offset::kStored},
    {"affine5_g32_bf16", 5, 32, ScaleType::kBF16, Offset::kStored},
    {"affine5_g32_f32", 5, 32, ScaleType::kF32, Offset::kStored},
    {"affine5_g64_f16", 5, 64, ScaleType::kF16, Offset::kStored},
    {"affine5_g64_bf16", 5, 64, ScaleType::kBF16, Offset::kStored},
    {"affine5_g64_f32", 5, 64, ScaleType::kF32, Offset::kStored},
    {"affine5_g128_f16", 5, 128, ScaleType::kF16, Offset::kStored},
    {"affine5_g128_bf16", 5, 128, ScaleType::kBF16, Offset::kStored},
    {"affine5_g128_f32", 5, 128, ScaleType::kF32, Offset::kStored},
    {"affine6_g32_f16", 6, 32, ScaleType::kF16, Offset::kStored},
    {"affine6_g32_bf16", 6, 32, ScaleType::kBF16, Offset::kStored},
    {"affine6_g32_f32", 6, 32, ScaleType::kF32, Offset::kStored},
    {"affine6_g64_f16", 6, 64, ScaleType::kF16, Offset::kStored},
    {"affine6_g64_bf16", 6, 64, ScaleType::kBF16, Offset::kStored},
    {"affine6_g64_f32", 6, 64, ScaleType::kF32, Offset::kStored},
    {"affine6_g128_f16", 6, 128, ScaleType::kF16, Offset::kStored},
    {"affine6_g128_bf16", 6, 128, ScaleType::kBF16, Offset::kStored},
    {"affine6_g128_f32", 6, 128, ScaleType::kF32, Offset::kStored},
    {"symmetric8_g16_f32", 8, 16, ScaleType::kF32, Offset::kMiddle},
    {"symmetric8_g32_f32", 8, 32, ScaleType::kF32, Offset::kMiddle},
    {"symmetric8_g64_f32", 8, 64, ScaleType::kF32, Offset::kMiddle},
    {"symmetric8_g128_f32", 8, 128, ScaleType::kF32, Offset::kMiddle},
    {"symmetric4_g32_bf16", 4, 32, ScaleType::kBF16, Offset::kMiddle},
    {"symmetric4_g64_f16", 4, 64, ScaleType::kF16, Offset::kMiddle},
    {"symmetric4_g64_bf16", 4, 64, ScaleType::kBF16, Offset::kMiddle},
    {"symmetric4_g128_f16", 4, 128, ScaleType::kF16, Offset::kMiddle},
    {"symmetric4_g128_bf16", 4, 128, ScaleType::kBF16, Offset::kMiddle},
    {"zero2_g32_f16", 2, 32, ScaleType::kF16, Offset::kNextZero},
    {"zero2_g32_bf16", 2, 32, ScaleType::kBF16, Offset::kNextZero},
    {"zero2_g64_f16", 2, 64, ScaleType::kF16, Offset::kNextZero},
    {"zero2_g64_bf16", 2, 64, ScaleType::kBF16, Offset::kNextZero},
    {"zero2_g128_f16", 2, 128, ScaleType::kF16, Offset::kNextZero},
    {"zero2_g128_bf16", 2, 128, ScaleType::kBF16, Offset::kNextZero},
    {"zero3_g32_f16", 3, 32, ScaleType::kF16, Offset::kNextZero},
    {"zero3_g32_bf16", 3, 32, ScaleType::kBF16, Offset::kNextZero},
    {"zero3_g64_f16", 3, 64, ScaleType::kF16, Offset::kNextZero},
    {"zero3_g64_bf16", 3, 64, ScaleType::kBF16, Offset::kNextZero},
    {"zero3_g128_f16", 3, 128, ScaleType::kF16, Offset::kNextZero},
    {"zero3_g128_bf16", 3, 128, ScaleType::kBF16, Offset::kNextZero},
    {"zero8_g32_f16", 8, 32, ScaleType::kF16, Offset::kNextZero},
    {"zero8_g32_bf16", 8, 32, ScaleType::kBF16, Offset::kNextZero},
    {"zero8_g64_f16", 8, 64, ScaleType::kF16, Offset::kNextZero},
    {"zero8_g64_bf16", 8, 64, ScaleType::kBF16, Offset::kNextZero},
    {"zero8_g128_f16", 8, 128, ScaleType::kF16, Offset::kNextZero},
    {"zero8_g128_bf16", 8, 128, ScaleType::kBF16, Offset::kNextZero},
    {"point2_g32_f16", 2, 32, ScaleType::kF16, Offset::kZero},
    {"point2_g32_bf16", 2, 32, ScaleType::kBF16, Offset::kZero},
    {"point2_g64_f16", 2, 64, ScaleType::kF16, Offset::kZero},
    {"point2_g64_bf16", 2, 64, ScaleType::kBF16, Offset::kZero},
    {"point2_g128_f16", 2, 128, ScaleType::kF16, Offset::kZero},
    {"point2_g128_bf16", 2, 128, ScaleType::kBF16, Offset::kZero},
    {"point3_g32_f16", 3, 32, ScaleType::kF16, Offset::kZero},
    {"point3_g32_bf16", 3, 32, ScaleType::kBF16, Offset::kZero},
    {"point3_g64_f16", 3, 64, ScaleType::kF16, Offset::kZero},
    {"point3_g64_bf16", 3, 64, ScaleType::kBF16, Offset::kZero},
    {"point3_g128_f16", 3, 128, ScaleType::kF16, Offset::kZero},
    {"point3_g128_bf16", 3, 128, ScaleType::kBF16, Offset::kZero},
    {"point4_g32_f16", 4, 32, ScaleType::kF16, Offset::kZero},
    {"point4_g32_bf16", 4, 32, ScaleType::kBF16, Offset::kZero},
    {"point4_g64_f16", 4, 64, ScaleType::kF16, Offset::kZero},
    {"point4_g64_bf16", 4, 64, ScaleType::kBF16, Offset::kZero},
    {"point4_g128_f16", 4, 128, ScaleType::kF16, Offset::kZero},
    {"point4_g128_bf16", 4, 128, ScaleType::kBF16, Offset::kZero},
    {"point8_g32_f16", 8, 32, ScaleType::kF16, Offset::kZero},
    {"point8_g32_bf16", 8, 32, ScaleType::kBF16, Offset::kZero},
    {"point8_g64_f16", 8, 64, ScaleType::kF16, Offset::kZero},
    {"point8_g64_bf16", 8, 64, ScaleType::kBF16, Offset::kZero},
    {"point8_g128_f16", 8, 128, ScaleType::kF16, Offset::kZero},
    {"point8_g128_bf16", 8, 128, ScaleType::kBF16, Offset::kZero},
};

}  // namespace

std::span<const WeightFormat> weight_formats() {
  return kFormats;
}

const WeightFormat& weight_format(DType dtype) {
  TOK_CHECK(is_packed(dtype));
  const size_t row = uint32_t(dtype) - kDTypeCount;
  TOK_CHECK(row < std::size(kFormats));
  return kFormats[row];
}

std::optional<DType> packed_dtype(const WeightFormat& wanted) {
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    const WeightFormat& f = kFormats[i];
    if (f.bits == wanted.bits && f.group == wanted.group && f.scale == wanted.scale &&
        f.offset == wanted.offset && f.code == wanted.code && f.levels == wanted.levels) {
      return packed_type(i);
    }
  }
  return std::nullopt;
}

DType WeightFormat::scale_dtype() const {
  TOK_CHECK(scale <= ScaleType::kF32);
  return scale == ScaleType::kF16    ? DType::kF16
         : scale == ScaleType::kBF16 ? DType::kBF16
                                     : DType::kF32;
}

ScaleType scale_of(DType dtype) {
  TOK_CHECK(is_float_weight(dtype));
  return dtype == DType::kF16    ? ScaleType::kF16
         : dtype == DType::kBF16 ? ScaleType::kBF16
                                 : ScaleType::kF32;
}

}  // namespace tokamak
