// Attention over the paged cache, and the append that fills it.
//
//   cache  f32|f16 [slots, 2, kv_heads, head_dim]   keys, then values, of each slot
//   pages  u32 [P]     position p lives in slot pages[p / 16] * 16 + p % 16; the pages of a sliding
//                      window recur, so a window layer never holds more than window + chunk tokens
//
//   kv_append  k, v f32 [T, kv_heads * head_dim], at positions frame.position + t
//   attention  q f32 [T, heads * head_dim] -> y, the same shape: one pass over the keys with a
//              running maximum (Milakov & Gimelshein 2018, arXiv:1805.02867). Query t sees the
//              positions up to its own, or the last `window` of them; not causal, all of the
//              step, or those less than `window` away. The lanes variant gives each key a few
//              neighbouring lanes and merges the partial sums of many keys at the end.
// Accumulation in f32 on devices, f64 in the reference. head_dim is even.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// The first element of head `head` in the slot of `position`; `part` 0: key, 1: value.
size_t cache_element(const CpuTensor& cache, std::span<const uint32_t> pages, size_t position,
                     size_t part, size_t head);

std::span<const KernelVariant> attention_variants();

}  // namespace tokamak
