// Bit patterns of small floats, and rounding of sizes.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace tokamak {

template <typename T>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
template <typename T>
constexpr T round_up(T a, T multiple) {
  return ceil_div(a, multiple) * multiple;
}

inline float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

/// Round to nearest, ties to even; NaN stays NaN.
inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t((bits >> 16) | 0x40u);
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float f16_to_f32(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24 is exact in f32
    const float magnitude = float(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/// Round to nearest, ties to even; overflow gives infinity.
inline uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // 65520 rounds to infinity
  if (magnitude < 0x38800000u) {  // below 2^-14: subnormal, in units of 2^-24
    const float units = std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f);
    return uint16_t(sign | uint16_t(units));
  }
  const uint32_t rebased = magnitude - (112u << 23);
  return uint16_t(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

/// The bits of floats, for what takes words.
inline std::vector<uint32_t> words_of(std::span<const float> values) {
  std::vector<uint32_t> words;
  words.reserve(values.size());
  for (const float value : values) words.push_back(std::bit_cast<uint32_t>(value));
  return words;
}

}  // namespace tokamak
