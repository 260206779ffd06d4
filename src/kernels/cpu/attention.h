// Attention over the pages of a cache, in vectors, on all threads of a pool; see
// attention/attention.h for the cache.
//
// A piece of work is a key head and some rows of one sequence: all query heads of the key head
// share what is read of the cache, in blocks of keys with a running maximum. Steps of few rows also
// divide the keys, always into parts of kKeysOfPart, whose sums are put together at the end.
#pragma once
#include <span>

#include "kernels/attention/attention.h"
#include "kernels/cpu/thread_pool.h"

namespace tokamak {

inline constexpr size_t kKeysOfPart = 512;
/// Steps of at most that many rows divide their keys among threads.
inline constexpr uint32_t kFewRows = 8;

/// A row of queries, one for each head, and what it sees.
struct AttentionRow {
  const float* queries = nullptr;        // [heads, head_dim]
  std::span<const uint32_t> pages = {};  // rows that share them are neighbours
  size_t begin = 0, end = 0;             // positions; not empty
  size_t position = 0;
};

struct AttentionWork {
  const CpuTensor* cache = nullptr;
  size_t heads = 0;
  float scale = 1, softcap = 0;
  std::span<const float> bias = {};   // as DistanceBias has them
  std::span<const float> sinks = {};  // of each head
  bool divides_keys = false;
};

/// The softmax' base and total of a row and head, for those who go on with its sums.
struct AttentionTotals {
  float largest = 0, total = 0;
};

/// Writes [rows, heads, head_dim]: the whole attention; or where `totals`, [rows, heads], is given,
/// sums of values with weights exp(score - largest), and these numbers.
void attend_rows(ThreadPool& pool, const AttentionWork& work, std::span<const AttentionRow> rows,
                 std::span<float> y, std::span<AttentionTotals> totals = {});

}  // namespace tokamak
