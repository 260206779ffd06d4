// Mixtures of experts: who computes a token, the products of those experts, and their sum.
//
//   route          logits f32 [T, experts], scale? f32 [experts] -> shares f32 [T, top_k], chosen
//                  u32 [T, top_k]. Experts are ordered by the bits of their logits, not by
//                  comparing floats: an order without ties or gaps, in which NaN is the largest.
//                  Whatever the logits are, chosen holds different experts below `experts`; shares
//                  of a row with NaN are NaN.
//   expert_linear  x f32 [T, in] or [T, top_k*in], w of any matrix type [experts*out, in],
//                  bias? f32 [experts*out] -> y f32 [T, top_k*out]
//   expert_columns x f32 [T, n] or [T, top_k*n], order u32 [experts, n] -> y f32 [T, top_k*n]
//   expert_sum     x f32 [T, top_k*n], shares f32 [T, top_k] -> y f32 [T, n]
//
// matvec reads the weights of the experts of each slot and no others: for a token, or for so few
// that they hardly share an expert. matmul and matrix take many: a workgroup belongs to one expert,
// finds the slots that chose it and multiplies them in tiles, so that weights are read once for up
// to 32 of them, or on matrix units 128. any takes every shape. Sums are f32 on devices, f64 in the
// references. Of a cut matrix they see whole experts and write the slots of those. Reference of the
// routing: transformers, modeling_qwen3_moe.py.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

// Rows of the references (kernels/rows.h).
void route_row(const CpuCall& call, size_t t);
void expert_columns_row(const CpuCall& call, size_t t);

std::span<const KernelVariant> expert_variants();

}  // namespace tokamak
