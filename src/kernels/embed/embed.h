// Embedding lookup:  y[t, :] = scale * table[tokens[t], :]
//
//   tokens u32 [T]            below vocab: the session checks them
//   table  any matrix type [vocab, n]
//   rows?  f32 [capacity, n]  what the host has put there: images
//   y      f32 [T, n]
//
// Tokens from vocab on are rows[(token - vocab) % capacity], unscaled; without rows there are none.
// Where the table is cut, a step writes the rows of those tokens that its part holds.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> embed_variants();

/// Writes y[t, :], of the CPU's kernels.
void embed_token(const CpuCall& call, size_t t);

}  // namespace tokamak
