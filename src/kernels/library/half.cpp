#include <algorithm>

#include "kernels/library/library.h"

namespace tokamak {

std::string half_source(Half type) {
  return type == Half::kBf16 ? "library/bf16.wgsl" : "library/f16.wgsl";
}

void store_half(const CpuTensor& to, size_t i, float value) {
  constexpr float kEndOfF16 = 65504;
  to.store(i, to.dtype == DType::kF16 ? std::clamp(value, -kEndOfF16, kEndOfF16) : value);
}

}  // namespace tokamak
