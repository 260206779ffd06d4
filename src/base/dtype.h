// Element types that files and graphs may carry.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tokamak {

enum class DType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kU32,
  kI32,
  kU8,
  kI8,
  kI16,
  kU16,
  kI64,
  kU64,
  kF64,
  kBool,  // one byte per element
  kF8E4M3,
  kF8E5M2,
};

inline constexpr uint32_t kDTypeCount = 15;

/// Lower case, without a separator before the width: "f32", "bf16", "f8e4m3".
std::string_view dtype_name(DType dtype);

/// The inverse of dtype_name; nothing for a name that is not one of them.
std::optional<DType> dtype_from_name(std::string_view name);

/// Bytes of one element.
uint32_t dtype_bytes(DType dtype);

/// f32, f16 or bf16: what a weight of a matrix may be.
constexpr bool is_float_weight(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

}  // namespace tokamak
