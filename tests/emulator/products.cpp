// The entry points of cuBLASLt that src/backend/cuda/api.h names: products of 16 bits, one after
// the other, in f64.
#include <cstdint>
#include <cstring>

#include "backend/cuda/api.h"
#include "base/bits.h"
#include "state.h"

using namespace tokamak;
using namespace tokamak::cuda;
using namespace emulator;

namespace {

constexpr ProductStatus kDone = ProductStatus::kSuccess;
constexpr ProductStatus kNotSupported{15};
constexpr ProductStatus kFailed{13};

struct Layout {
  NumberType type;
  uint64_t rows, columns;
  int64_t pitch;
};

struct Kind {
  int transposes_a = 0, epilogue = 1;
  DevicePointer bias = 0;
};

const Layout& layout_of(MatrixLayout layout) {
  return *reinterpret_cast<const Layout*>(layout);
}

/// Element [row, column] of a matrix of bf16 or f16.
double at(DevicePointer matrix, const Layout& layout, uint64_t row, uint64_t column) {
  uint16_t bits = 0;
  const uint64_t index = column * uint64_t(layout.pitch) + row;
  std::memcpy(&bits, reinterpret_cast<const void*>(matrix + 2 * index), sizeof bits);
  return double(layout.type == NumberType::kF16 ? f16_to_f32(bits) : bf16_to_f32(bits));
}

/// Whether A is [k, m], to be transposed, B [k, n] and D [m, n].
bool fits(const Kind& kind, const Layout& a, const Layout& b, const Layout& d) {
  // A bias has the type of the result, and the engine's are f32.
  if (d.type != NumberType::kF32 && kind.epilogue == kAddsBias) return false;
  return kind.transposes_a == kTransposed && a.type != NumberType::kF32 && b.type == a.type &&
         (d.type == a.type || d.type == NumberType::kF32) && a.rows == b.rows &&
         a.columns == d.rows && b.columns == d.columns && a.rows % 8 == 0 && d.rows % 8 == 0;
}

void multiply(const Kind& kind, DevicePointer a, const Layout& left, DevicePointer b,
              const Layout& right, DevicePointer d, const Layout& result) {
  for (uint64_t column = 0; column < right.columns; ++column) {
    for (uint64_t row = 0; row < left.columns; ++row) {
      double sum = 0;
      for (uint64_t i = 0; i < left.rows; ++i) {
        sum += at(a, left, i, row) * at(b, right, i, column);
      }
      float bias = 0;
      if (kind.epilogue == kAddsBias) {
        std::memcpy(&bias, reinterpret_cast<const void*>(kind.bias + 4 * row), sizeof bias);
      }
      const float value = float(sum + double(bias));
      const uint64_t index = column * uint64_t(result.pitch) + row;
      if (result.type == NumberType::kF32) {
        std::memcpy(reinterpret_cast<void*>(d + 4 * index), &value, sizeof value);
      } else {
        const bool is_f16 = result.type == NumberType::kF16;
        const uint16_t rounded = is_f16 ? f32_to_f16(value) : f32_to_bf16(value);
        std::memcpy(reinterpret_cast<void*>(d + 2 * index), &rounded, sizeof rounded);
      }
    }
  }
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() {
  return 130000;
}
ProductStatus cublasLtCreate(ProductHandle* handle) {
  *handle = reinterpret_cast<ProductHandle>(&fault());
  return kDone;
}
ProductStatus cublasLtDestroy(ProductHandle) {
  return kDone;
}
ProductStatus cublasLtMatmulDescCreate(ProductKind* kind, int compute, NumberType scale) {
  if (compute != kSumInF32 || scale != NumberType::kF32) return kNotSupported;
  *kind = reinterpret_cast<ProductKind>(new Kind);
  return kDone;
}
ProductStatus cublasLtMatmulDescSetAttribute(ProductKind kind, int attribute, const void* value,
                                             size_t bytes) {
  Kind& own = *reinterpret_cast<Kind*>(kind);
  if (attribute == kProductBias && bytes == sizeof own.bias) {
    std::memcpy(&own.bias, value, bytes);
    return kDone;
  }
  if ((attribute != kProductTransA && attribute != kProductEpilogue) || bytes != sizeof(int)) {
    return kNotSupported;
  }
  std::memcpy(attribute == kProductTransA ? &own.transposes_a : &own.epilogue, value, bytes);
  return kDone;
}
ProductStatus cublasLtMatmulDescDestroy(ProductKind kind) {
  delete reinterpret_cast<Kind*>(kind);
  return kDone;
}
ProductStatus cublasLtMatrixLayoutCreate(MatrixLayout* layout, NumberType type, uint64_t rows,
                                         uint64_t columns, int64_t pitch) {
  *layout = reinterpret_cast<MatrixLayout>(new Layout{type, rows, columns, pitch});
  return kDone;
}
ProductStatus cublasLtMatrixLayoutDestroy(MatrixLayout layout) {
  delete reinterpret_cast<Layout*>(layout);
  return kDone;
}
ProductStatus cublasLtMatmulPreferenceCreate(ProductPreference* preference) {
  *preference = reinterpret_cast<ProductPreference>(&fault());
  return kDone;
}
ProductStatus cublasLtMatmulPreferenceSetAttribute(ProductPreference, int, const void*, size_t) {
  return kDone;
}
ProductStatus cublasLtMatmulPreferenceDestroy(ProductPreference) {
  return kDone;
}
ProductStatus cublasLtMatmulAlgoGetHeuristic(ProductHandle, ProductKind kind, MatrixLayout a,
                                             MatrixLayout b, MatrixLayout, MatrixLayout d,
                                             ProductPreference, int most, ProductChoice* choices,
                                             int* count) {
  *count = 0;
  const auto& own = *reinterpret_cast<const Kind*>(kind);
  if (most < 1 || !fits(own, layout_of(a), layout_of(b), layout_of(d))) return kNotSupported;
  choices[0] = {};
  *count = 1;
  return kDone;
}
ProductStatus cublasLtMatmul(ProductHandle, ProductKind kind, const void*, DevicePointer a,
                             MatrixLayout a_layout, DevicePointer b, MatrixLayout b_layout,
                             const void*, DevicePointer, MatrixLayout, DevicePointer d,
                             MatrixLayout d_layout, const ProductAlgorithm*, DevicePointer, size_t,
                             Stream) {
  if (now() != kOk) return kFailed;
  const auto work = [a, b, d, kind = *reinterpret_cast<const Kind*>(kind),
                     left = layout_of(a_layout), right = layout_of(b_layout),
                     result = layout_of(d_layout)] {
    multiply(kind, a, left, b, right, d, result);
    return kOk;
  };
  if (!record(work)) work();
  return kDone;
}

}  // extern "C"
