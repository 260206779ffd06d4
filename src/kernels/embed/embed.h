// Embedding lookup:  y[t, :] = scale * table[tokens[t], :]
//
//   tokens u32 [T]            below vocab: the session checks them
//   table  any matrix type [vocab, n]
//   y      f32 [T, n]
//
// Where the table is cut, a step writes the rows of those tokens that its part holds.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> embed_variants();
}
