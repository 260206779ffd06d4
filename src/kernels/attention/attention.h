// Attention over the paged cache, and the append that fills it.
//
//   cache  f32|f16 [cells, 2, kv_heads, head_dim]   keys, then values, of each cell; in f16 what is
//                      beyond 65504 is held as that, since 0 * infinity is no number
//          q8 [cells, 2, kv_heads, head_dim + 4]    bytes and steps, as graph/kv_cache.h says.
//                      A step is a 127th of the head's largest magnitude, and an element the
//                      nearest whole number of steps, of two the even one. Where the largest is
//                      below 2^-100 (an inverse of its step would be no f32) all are zeros
//   pages  u32 [P]     position p lives in cell pages[p / 16] * 16 + p % 16; the pages of a sliding
//                      window recur, so a window layer never holds more than window + chunk tokens.
//                      Each slot has such a table
//
//   kv_append  k, v f32 [T, kv_heads * head_dim], each at the position of its row
//   attention  q f32 [T, heads * head_dim] -> y, the same shape: one pass over the keys with a
//              running maximum (Milakov & Gimelshein 2018, arXiv:1805.02867). Query t sees the
//              positions of its sequence up to its own, or the last `window` of them, or those
//              from the last multiple of `window` on; not causal, all of the step, or those less
//              than `window` away. The lanes variant gives each key a few neighbouring lanes and
//              merges the partial sums of many keys at the end.
//              bias f32 [2 * r + 1, heads], which may be missing: added to the scores, the number
//              of the distance from query to key, at most r before or after it, and of the head.
//              ends u32 [T], instead: row t sees up to position ends[t] as well, and without that;
//              not causal, it sees that alone, and at least one position
//              spans u32 [T, 2], instead: row t sees positions from spans[t, 0] to before
//              spans[t, 1], at least one
//              sinks f32 [heads], instead: the softmax of head h counts e^sinks[h], too, for which
//              there is no value (Xiao et al. 2023, arXiv:2309.17453)
// The tile variant computes all query heads of a key head for several tokens at a time, so that
// they share what they read (Dao et al. 2022, arXiv:2205.14135). Accumulation in f32 on devices,
// f64 in the reference. head_dim is even.
#pragma once
#include <span>
#include <string>

#include "kernels/kernel.h"

namespace tokamak {

/// A head of the cache, in the cell of a position.
struct CachedHead {
  size_t position = 0;
  size_t part = 0;  // 0: key, 1: value
  size_t head = 0;
};

/// Elements of a head.
size_t head_dim_of(const CpuTensor& cache);
uint32_t head_dim_of(const TensorDesc& cache);

/// The page table of the sequence that the row is of.
std::span<const uint32_t> pages_of(const CpuCall& call, const CpuTensor& tables, size_t row);

/// The head becomes `values`, as far as the cache can hold them.
void store_cached(const CpuTensor& cache, std::span<const uint32_t> pages, const CachedHead& head,
                  std::span<const float> values);
/// Loads the cached values of that head.
void load_cached(const CpuTensor& cache, std::span<const uint32_t> pages, const CachedHead& head,
                 std::span<float> values);

/// Appends row t of a KvAppend.
void kv_append_row(const CpuCall& call, size_t t);

/// The text of how kernels pack and unpack what a cache of that type holds.
std::string cache_source(DType dtype);

/// The text that finds the first position a query sees.
std::string positions_source(bool chunks);

/// The first position that a query sees; `window` 0: all.
size_t first_seen(size_t position, size_t window, bool chunks);

/// Positions [begin, end) of key head `head`.
struct KeyRange {
  size_t head = 0, begin = 0, end = 0;
};

/// The numbers added to the scores of a query at `position`, by the distance of the keys: the
/// middle one is that of its own position, the outermost are those of all that is farther.
struct DistanceBias {
  std::span<const float> numbers;  // of each distance, one for every head; none: 0
  size_t heads = 1, head = 0, position = 0;

  double of(size_t key) const;
};

/// A query's sum of values with weights exp(score - largest), and the total of the weights. The
/// largest score is rounded before it is used, so that those who get it as f32 have it exactly.
struct Attended {
  std::vector<double> sums;
  float largest = -3e38f;
  double total = 0;
};

/// In f64, for every reference that attends.
Attended attend(std::span<const float> query, const CpuTensor& cache,
                std::span<const uint32_t> pages, const KeyRange& keys, float scale, float softcap,
                const DistanceBias& bias = {});

/// Whether the fourth operand of an Attention is the ends or the spans of its rows.
bool attention_has_ends(const CpuCall& call);
bool attention_has_spans(const CpuCall& call);

/// The first position that row t of an Attention sees.
size_t first_seen(const CpuCall& call, size_t t);

/// The position after the last one that row t of an Attention sees.
size_t end_seen(const CpuCall& call, size_t t);

std::span<const KernelVariant> attention_variants();

}  // namespace tokamak
