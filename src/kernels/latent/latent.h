// Attention to the latents of a paged cache, the append that fills it, and the products per head
// around it. Reference: transformers, modeling_deepseek_v3.py, whose products with kv_b_proj are
// moved to the query and to the result here (arXiv:2405.04434, 2.1.2).
//
//   cache  f32|f16 [cells, rank + d]   the latent, then the turned part of the keys, of each cell;
//                      in f16 what is beyond 65504 is held as that
//   pages  u32 [P]     as in kernels/attention/attention.h
//
//   head_linear       x f32 [T, heads*in], w of any matrix type [heads*out, in]
//                     -> y f32 [T, heads*out]; transposed, w is [heads*in, out]
//   latent_append     latent f32 [T, rank], turned f32 [T, d], each at the position of its row
//   latent_attention  ql f32 [T, heads*rank], qr f32 [T, heads*d] -> y f32 [T, heads*rank]: one
//                     pass over the cells with a running maximum, four heads a workgroup, which
//                     share what they read. rank and d are even
//
// head_linear.wgsl reads eight weights at once, for up to eight rows of x; any takes every shape.
// Accumulation in f32 on devices, f64 in the references.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// Appends row t of a LatentAppend.
void latent_append_row(const CpuCall& call, size_t t);

std::span<const KernelVariant> latent_variants();

}  // namespace tokamak
