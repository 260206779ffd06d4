// Element types that files and graphs may carry. Quantised matrices have packed types, whose
// elements have no bytes of their own: packing.h says how they lie in memory.
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
  kF8E8M0,  // 2^(byte - 127), the scales of other types
  // Packed: the rows of weight_formats(), of which the first have enumerators.
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ4_K,
  kQ5_K,
  kQ6_K,
};

inline constexpr uint32_t kDTypeCount = 16;  // not packed; the packed ones come after those

/// True for the types of quantised matrices.
constexpr bool is_packed(DType dtype) {
  return uint32_t(dtype) >= kDTypeCount;
}

/// Lower case, without a separator before the width: "f32", "bf16", "f8e4m3".
std::string_view dtype_name(DType dtype);

/// The inverse of dtype_name; nothing for a name that is not one of them.
std::optional<DType> dtype_from_name(std::string_view name);

/// Bytes of one element. REQUIRES: not packed; matrix_bytes() of packing.h takes both.
uint32_t dtype_bytes(DType dtype);

/// f32, f16 or bf16.
constexpr bool is_float_weight(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

/// Whether the weights of a matrix may have this type.
constexpr bool is_matrix_dtype(DType dtype) {
  return is_float_weight(dtype) || is_packed(dtype);
}

}  // namespace tokamak
