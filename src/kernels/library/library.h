// Kernels around the products of a vendor's library; see graph/library_ops.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// A result that is off by some units of f32 may be rounded to the number beside the right one, of
/// bf16 at most that far away.
inline constexpr double kHalfStep = 0x1p-8;

/// The text of as_half(), which rounds four numbers. REQUIRES: not kNone.
std::string half_source(Half type);
/// Stores as kernels do: a number beyond f16 becomes its last one.
void store_half(const CpuTensor& to, size_t i, float value);

/// Why a kernel that rounds its results, or does not, refuses a norm; "" if it takes it.
template <typename T, bool kRounds>
std::string rounding_refuses(const Problem& problem, const DeviceInfo&) {
  if ((problem.as<T>().rounded != Half::kNone) == kRounds) return "";
  return kRounds ? "rounds" : "rounds nothing";
}

std::span<const KernelVariant> library_variants();

}  // namespace tokamak
