// The selective scan of Mamba-2, a state S [n, p] per head, changed by one token after the other:
//   delta = clamp(softplus(dt_factor dt + bias), low, high)
//   S     = exp(-exp(A_log) delta) S + B (delta x)^T
//   y     = C^T S + D x
//
//   xbc    f32 [T, heads*p + 2*groups*n + ...]   the heads' x, then B of the groups, then C of the
//                                groups, then whatever; head h reads group h / (heads/groups)
//   dt     f32 [T, ... + heads]  whatever, then the heads' dt
//   params f32 [3, heads]        A_log (negated: -exp of it), bias, D
//   y      f32 [T, heads * p]
//   state  f32 [heads, n, p]     S before the step; changed in place. Zero at position 0,
//                                whatever it holds.
// The device's kernel walks the tokens as that of the gated delta rule does. It sums in f32; the
// reference sums in f64 and keeps S in f32.
// References: Dao & Gu 2024, arXiv:2405.21060, equation 1; transformers, modeling_mamba2.py,
// Mamba2Mixer.torch_forward with a cache.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> selective_scan_variants();

/// The operands of a token's step of one head, on the host.
struct ScanStep {
  std::span<const float> x, b, c;
  double decay = 1, delta = 0;
  float skip = 0;  // D
  std::span<float> y;
};
ScanStep scan_step_of(const CpuCall& call, size_t t, size_t head);

}  // namespace tokamak
