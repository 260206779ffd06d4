// Attention of many queries, as a prompt has them: a lane is a query, and both products are of
// tiles, in which rows of one side share the registers of the other.
//
//   scores [key][query]    keys by turned queries; what follows per query needs no sum across lanes
//   sums   [query][width]  weights, which lie as the scores, by values
#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_tiles.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention_cache.h"
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

constexpr size_t kKeys = kAttentionKeys;
/// A tile of sums in registers: rows, by vectors of columns. Sixteen registers hold eight of them
/// beside what is multiplied, thirty-two sixteen.
constexpr size_t kRows = 4, kVectors = kLanes == 16 || HWY_ARCH_ARM_A64 ? 4 : 2;
/// Queries whose scores are made together.
constexpr size_t kGroup = kVectors * kLanes;

/// The left side of a product: element (row, i) is at data[row * row_step + i * step].
struct Rows {
  const float* data;
  size_t row_step, step;
};

/// sums += left [kRows][depth] by right [depth][kN vectors].
template <size_t kN>
HWY_INLINE void add_products(const Rows& left, size_t depth, const float* right, size_t stride,
                             F (&sums)[kRows][kN]) {
  const Floats f;
  const float* from = left.data;
  for (size_t i = 0; i < depth; ++i, from += left.step, right += stride) {
    F own[kN];
    for (size_t n = 0; n < kN; ++n) own[n] = hn::LoadU(f, right + n * kLanes);
    for (size_t r = 0; r < kRows; ++r) {
      const F x = hn::Set(f, from[r * left.row_step]);
      for (size_t n = 0; n < kN; ++n) sums[r][n] = hn::MulAdd(x, own[n], sums[r][n]);
    }
  }
}

/// Calls body<n>() for a number of vectors that is at most kVectors.
template <typename Body>
HWY_INLINE void with_vectors(size_t n, const Body& body) {
  if constexpr (kVectors == 4) {
    if (n == 4) return body.template operator()<4>();
    if (n == 3) return body.template operator()<3>();
  }
  n == 2 ? body.template operator()<2>() : body.template operator()<1>();
}

/// Which keys of a block each query of a group sees. Queries that fill a group's last vector see
/// what the last one sees.
struct Seen {
  int32_t low[kGroup], high[kGroup];  // low == high: none

  /// Keys that any of the queries [first, first + count) sees, and those that all see.
  struct Ranges {
    size_t any_low = kKeys, any_high = 0, all_low = 0, all_high = kKeys;
  };
  Ranges of(size_t first, size_t count) const {
    Ranges r;
    for (size_t q = first; q < first + count; ++q) {
      const auto own_low = size_t(low[q]), own_high = size_t(high[q]);
      r.all_low = std::max(r.all_low, own_low);
      r.all_high = std::min(r.all_high, own_high);
      if (own_low == own_high) continue;
      r.any_low = std::min(r.any_low, own_low);
      r.any_high = std::max(r.any_high, own_high);
    }
    return r;
  }
};

/// A group of queries in a block of keys.
struct Block {
  const float *keys, *values;  // [key][width]
  const float* queries;        // [d][kGroup]
  size_t first, vectors;       // query, and vectors of them
  size_t begin;                // position of key 0
  Seen seen;
  float* scores;   // [key][kGroup]
  float* factors;  // [kGroup]
};

/// Scores of keys that any of the group sees.
template <size_t kN>
void score(const AttentionTask& task, const Block& block, const Seen::Ranges& keys) {
  const Floats f;
  const size_t d = head_dim_of(*task.work.cache), width = task.width();
  const F scale = hn::Set(f, task.work.scale), cap = hn::Set(f, task.work.softcap);
  for (size_t key = keys.any_low / kRows * kRows; key < keys.any_high; key += kRows) {
    F sums[kRows][kN];
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t n = 0; n < kN; ++n) sums[r][n] = hn::Zero(f);
    }
    add_products<kN>({block.keys + key * width, width, 1}, d, block.queries, kGroup, sums);
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t n = 0; n < kN; ++n) {
        F s = hn::Mul(sums[r][n], scale);
        if (task.work.softcap > 0) s = hn::Mul(hn::Tanh(f, hn::Div(s, cap)), cap);
        hn::StoreU(s, f, block.scores + (key + r) * kGroup + n * kLanes);
      }
    }
  }
}

void add_bias(const AttentionTask& task, const Block& block) {
  const size_t count = std::min(task.queries() - block.first, kGroup);
  for (size_t q = 0; q < count; ++q) {
    const DistanceBias bias{task.work.bias, task.work.heads, task.head(block.first + q),
                            task.row(block.first + q).position};
    for (auto key = size_t(block.seen.low[q]); key < size_t(block.seen.high[q]); ++key) {
      block.scores[key * kGroup + q] += float(bias.of(block.begin + key));
    }
  }
}

/// Scores of a vector of queries become weights exp(score - largest), those of keys that a query
/// does not see 0. One that sees none so far has a total of nothing, which its first factor, 0,
/// takes away.
void weigh(const Block& block, size_t vector, Running& running) {
  const Floats f;
  const Ints ints;
  const size_t at = vector * kLanes;
  const Seen::Ranges keys = block.seen.of(at, kLanes);
  float *largest = running.largest.data() + block.first + at, *own = block.scores + at;
  float *total = running.total.data() + block.first + at, *factors = block.factors + at;
  const auto low = hn::LoadU(ints, block.seen.low + at),
             high = hn::LoadU(ints, block.seen.high + at);
  const auto sees = [&](size_t key) HWY_ATTR {
    const auto k = hn::Set(ints, int32_t(key));
    return hn::RebindMask(f, hn::AndNot(hn::Lt(k, low), hn::Lt(k, high)));
  };
  const F before = hn::LoadU(f, largest), lowest = hn::Set(f, kLowestScore);
  F most = before, sum = hn::Zero(f);
  for (size_t key = keys.any_low; key < keys.any_high; ++key) {
    F s = hn::LoadU(f, own + key * kGroup);
    if (key < keys.all_low || key >= keys.all_high) {
      s = hn::IfThenElse(sees(key), s, lowest);
      hn::StoreU(s, f, own + key * kGroup);
    }
    most = hn::Max(most, s);
    sum = hn::MulAdd(s, hn::Zero(f), sum);  // no number if a score is none
  }
  const F least = hn::Set(f, -1000.0f);
  for (size_t key = keys.any_low; key < keys.any_high; ++key) {
    const F w = hn::Exp(f, hn::Max(hn::Sub(hn::LoadU(f, own + key * kGroup), most), least));
    hn::StoreU(w, f, own + key * kGroup);
    sum = hn::Add(sum, w);
  }
  const F factor =
      hn::IfThenZeroElse(hn::Eq(before, lowest), hn::Exp(f, hn::Max(hn::Sub(before, most), least)));
  hn::StoreU(most, f, largest);
  hn::StoreU(factor, f, factors);
  hn::StoreU(hn::MulAdd(hn::LoadU(f, total), factor, sum), f, total);
}

/// sums = sums * factor + weights * values, of keys [low, high) and one query.
void add_some(const Block& block, size_t q, size_t low, size_t high, float factor, size_t width,
              float* sums) {
  const Floats f;
  for (size_t i = 0; i < width; i += kLanes) {
    F own = hn::Mul(hn::LoadU(f, sums + i), hn::Set(f, factor));
    for (size_t key = low; key < high; ++key) {
      own = hn::MulAdd(hn::Set(f, block.scores[key * kGroup + q]),
                       hn::LoadU(f, block.values + key * width + i), own);
    }
    hn::StoreU(own, f, sums + i);
  }
}

/// The same of kRows queries and keys that all of them see.
void add_tile(const Block& block, size_t q, size_t low, size_t high, const float* factors,
              size_t width, float* sums) {
  const Floats f;
  const Rows weights{block.scores + low * kGroup + q, 1, kGroup};
  for (size_t first = 0; first < width; first += kGroup) {
    with_vectors(std::min(kGroup, width - first) / kLanes, [&]<size_t kN>() HWY_ATTR {
      F own[kRows][kN];
      for (size_t r = 0; r < kRows; ++r) {
        for (size_t n = 0; n < kN; ++n) {
          own[r][n] =
              hn::Mul(hn::LoadU(f, sums + r * width + first + n * kLanes), hn::Set(f, factors[r]));
        }
      }
      add_products<kN>(weights, high - low, block.values + low * width + first, width, own);
      for (size_t r = 0; r < kRows; ++r) {
        for (size_t n = 0; n < kN; ++n) {
          hn::StoreU(own[r][n], f, sums + r * width + first + n * kLanes);
        }
      }
    });
  }
}

/// Values that kRows queries see. What one does not see has no part in its sums, a value that is no
/// number neither: keys that only some see are added one query at a time.
void add_values(const Block& block, size_t q, size_t width, float* sums) {
  const Seen::Ranges keys = block.seen.of(q, kRows);
  const bool meet = keys.all_low < keys.all_high;
  float factors[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    const auto low = size_t(block.seen.low[q + r]), high = size_t(block.seen.high[q + r]);
    const size_t until = meet ? keys.all_low : high;
    factors[r] = block.factors[q + r];
    if (low >= until) continue;
    add_some(block, q + r, low, until, factors[r], width, sums + r * width);
    factors[r] = 1;
  }
  if (!meet) return;
  add_tile(block, q, keys.all_low, keys.all_high, factors, width, sums);
  for (size_t r = 0; r < kRows; ++r) {
    const auto high = size_t(block.seen.high[q + r]);
    if (high == keys.all_high) continue;
    add_some(block, q + r, keys.all_high, high, 1, width, sums + r * width);
  }
}

void see(const AttentionTask& task, size_t end, Block& block) {
  const size_t last = task.queries() - 1;
  for (size_t q = 0; q < block.vectors * kLanes; ++q) {
    const AttentionRow& row = task.row(std::min(block.first + q, last));
    const size_t low = std::clamp(row.begin, block.begin, end) - block.begin;
    const size_t high = std::clamp(row.end, block.begin, end) - block.begin;
    block.seen.low[q] = int32_t(low);
    block.seen.high[q] = int32_t(std::max(low, high));
  }
}

void attend_group(const AttentionTask& task, const Block& block, Running& running) {
  const Seen::Ranges keys = block.seen.of(0, block.vectors * kLanes);
  if (keys.any_low >= keys.any_high) return;
  with_vectors(block.vectors, [&]<size_t kN>() HWY_ATTR { score<kN>(task, block, keys); });
  if (!task.work.bias.empty()) add_bias(task, block);
  for (size_t v = 0; v < block.vectors; ++v) weigh(block, v, running);
  const size_t width = task.width(), count = std::min(task.queries() - block.first, kGroup);
  for (size_t q = 0; q < count; q += kRows) {
    add_values(block, q, width, running.sums.data() + (block.first + q) * width);
  }
}

/// A thread's buffers, which grow to what the largest piece needs.
struct Buffers {
  std::vector<float> queries, keys, values, scores;
};

void attend(const AttentionTask& task, Running& running) {
  static thread_local Buffers buffers;
  const size_t d = head_dim_of(*task.work.cache), width = task.width();
  const size_t queries = task.queries(), groups = ceil_div(queries, kGroup);
  const auto room = [](std::vector<float>& buffer, size_t size) {
    if (buffer.size() < size) buffer.resize(size);
  };
  room(buffers.queries, groups * kGroup * d);
  room(buffers.keys, kKeys * width);
  room(buffers.values, kKeys * width);
  room(buffers.scores, kKeys * kGroup);
  for (size_t q = 0; q < round_up(queries, kLanes); ++q) {
    const float* from = task.query(std::min(q, queries - 1));
    float* to = buffers.queries.data() + q / kGroup * kGroup * d + q % kGroup;
    for (size_t i = 0; i < d; ++i) to[i * kGroup] = from[i];
  }
  float factors[kGroup];
  for (size_t begin = task.piece.begin, end = 0; begin < task.piece.end; begin = end) {
    end = task.block_end(begin);
    load_block(task, 0, begin, end, buffers.keys.data());
    load_block(task, 1, begin, end, buffers.values.data());
    const size_t loaded = (end - begin) * width, whole = round_up(end - begin, kRows) * width;
    std::fill(buffers.keys.data() + loaded, buffers.keys.data() + whole, 0.0f);
    for (size_t g = 0; g < groups; ++g) {
      const size_t first = g * kGroup;
      Block block{.keys = buffers.keys.data(),
                  .values = buffers.values.data(),
                  .queries = buffers.queries.data() + first * d,
                  .first = first,
                  .vectors = ceil_div(std::min(queries - first, kGroup), kLanes),
                  .begin = begin,
                  .seen = {},
                  .scores = buffers.scores.data(),
                  .factors = factors};
      see(task, end, block);
      attend_group(task, block, running);
    }
  }
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(attend);

void attend_tiles(const AttentionTask& task, Running& running) {
  HWY_DYNAMIC_DISPATCH(attend)(task, running);
}

}  // namespace tokamak
#endif
