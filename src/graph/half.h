// The types of 16 bits whose products matrix units make.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/dtype.h"

namespace tokamak {

/// The type that something is rounded to, to nearest, ties to even. bf16 holds 8 bits and whatever
/// f32 does; f16 holds 11, and a number beyond 65504 becomes 65504.
enum class Half : uint8_t { kNone, kBf16, kF16 };
inline constexpr Half kHalves[] = {Half::kNone, Half::kBf16, Half::kF16};
inline constexpr std::string_view kHalfNames[] = {"none", "bf16", "f16"};

/// f32 of kNone.
constexpr DType half_dtype(Half half) {
  return half == Half::kNone ? DType::kF32 : half == Half::kBf16 ? DType::kBF16 : DType::kF16;
}
constexpr bool is_half(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16;
}

}  // namespace tokamak
