// The gated delta rule, a state S [dk, dv] per value head, changed by one token after the other:
//   q, k = l2norm(q) / sqrt(dk), l2norm(k)         l2norm(x) = x rsqrt(sum x^2 + 1e-6)
//   g    = exp(-exp(log_rate) softplus(a + bias))
//   d    = sigmoid(b) (v - g k^T S)
//   S    = g S + k d^T
//   y    = q^T S
//
//   qkv    f32 [T, 2*key_heads*dk + heads*dv + ...]   q, then k of the key heads, then v of the
//                                heads, then whatever; value head h reads key head
//                                h / (heads/key_heads), or tiled
//                                h % key_heads
//   ab     f32 [T, ... + 2*heads]   whatever, then the heads' a, then their b
//   rates  f32 [2, heads]        log_rate (negated: -exp of it), bias
//   y      f32 [T, heads * dv]
//   state  f32 [heads, dk, dv]   S before the step; changed in place. Zero at position 0,
//                                whatever it holds.
// The columns of S do not meet, so a workgroup of the device's kernel has some columns of one head
// and walks the tokens by itself. It sums in f32; the reference sums in f64 and keeps S in f32.
// References: Yang, Kautz & Hatamizadeh 2024, arXiv:2412.06464, equation 10; transformers,
// modeling_qwen3_5.py, torch_recurrent_gated_delta_rule.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> gated_delta_variants();

/// The operands of a token's step of one head, on the host.
struct DeltaStep {
  std::span<const float> q, k, v;  // as the row has them
  double q_scale = 1, k_scale = 1;
  double decay = 1, beta = 0;  // g, sigmoid(b)
  std::span<float> y;
};
DeltaStep delta_step_of(const CpuCall& call, size_t t, size_t head);

}  // namespace tokamak
