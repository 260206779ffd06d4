// The terms that low-rank adapters add to products:
//
//   lora_down  x f32 [T, in], a f32, f16 or bf16 [adapters*rank, in] -> h f32 [T, rank]
//   lora_up    h f32 [T, ranks], b f32, f16 or bf16 [adapters*n, rank], added to y f32 [T, n]
//
// See graph/lora_ops.h for the contract. A workgroup has neighbouring rows of one sequence, so of
// one adapter, and nothing to do where the sequence has none; weights are read once for all of its
// rows. Sums are f32 on devices, f64 in the references.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> lora_variants();
}
