// Attention of few queries: what is read of the cache is most of the work.
#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_few.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention_cache.h"
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

constexpr size_t kKeys = kAttentionKeys;

HWY_INLINE float dot(const float* a, const float* b, size_t width) {
  const Floats f;
  F sums[2] = {hn::Zero(f), hn::Zero(f)};
  for (size_t i = 0; i < width; i += kLanes) {
    sums[i / kLanes % 2] =
        hn::MulAdd(hn::LoadU(f, a + i), hn::LoadU(f, b + i), sums[i / kLanes % 2]);
  }
  return sum_of(hn::Add(sums[0], sums[1]));
}

/// Scores of keys [0, count) become weights exp(score - largest); those not in [low, high) 0.
void weigh(size_t low, size_t high, float* scores, float& largest, float& total, float& factor) {
  const Floats f;
  std::fill(scores, scores + low, kLowestScore);
  std::fill(scores + high, scores + kKeys, kLowestScore);
  F most = hn::Set(f, largest), nothing = hn::Zero(f);
  for (size_t i = 0; i < kKeys; i += kLanes) {
    const F s = hn::LoadU(f, scores + i);
    most = hn::Max(most, s);
    nothing = hn::MulAdd(s, hn::Zero(f), nothing);  // no number if a score is none
  }
  const float before = largest;
  largest = hn::GetLane(hn::MaxOfLanes(f, most));
  factor = before == kLowestScore ? 0.0f : std::exp(before - largest);
  const F base = hn::Set(f, largest);
  F sum = nothing;
  for (size_t i = 0; i < kKeys; i += kLanes) {
    const F w = hn::Exp(f, hn::Max(hn::Sub(hn::LoadU(f, scores + i), base), hn::Set(f, -1000.0f)));
    hn::StoreU(w, f, scores + i);
  }
  std::fill(scores, scores + low, 0.0f);
  std::fill(scores + high, scores + kKeys, 0.0f);
  for (size_t i = 0; i < kKeys; i += kLanes) sum = hn::Add(sum, hn::LoadU(f, scores + i));
  total = total * factor + sum_of(sum);
}

/// sums = sums * factor + weights * values.
HWY_INLINE void add_values(const float* weights, const float* values, size_t low, size_t high,
                           size_t width, float factor, float* sums) {
  const Floats f;
  constexpr size_t kVectors = 4;
  for (size_t first = 0; first < width; first += kVectors * kLanes) {
    const size_t n = HWY_MIN(kVectors, (width - first) / kLanes);
    F own[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      own[v] = v < n ? hn::Mul(hn::LoadU(f, sums + first + v * kLanes), hn::Set(f, factor))
                     : hn::Zero(f);
    }
    if (n == kVectors) {
      for (size_t key = low; key < high; ++key) {
        const F w = hn::Set(f, weights[key]);
        const float* from = values + key * width + first;
        for (size_t v = 0; v < kVectors; ++v) {
          own[v] = hn::MulAdd(w, hn::LoadU(f, from + v * kLanes), own[v]);
        }
      }
    } else {
      for (size_t key = low; key < high; ++key) {
        const F w = hn::Set(f, weights[key]);
        for (size_t v = 0; v < n; ++v) {
          own[v] = hn::MulAdd(w, hn::LoadU(f, values + key * width + first + v * kLanes), own[v]);
        }
      }
    }
    for (size_t v = 0; v < n; ++v) hn::StoreU(own[v], f, sums + first + v * kLanes);
  }
}

void adjust_scores(const AttentionTask& task, size_t q, size_t begin, size_t count, float* scores) {
  const Floats f;
  const AttentionWork& work = task.work;
  for (size_t i = 0; i < kKeys; i += kLanes) {
    F s = hn::Mul(hn::LoadU(f, scores + i), hn::Set(f, work.scale));
    if (work.softcap > 0) {
      const F cap = hn::Set(f, work.softcap);
      s = hn::Mul(hn::Tanh(f, hn::Div(s, cap)), cap);
    }
    hn::StoreU(s, f, scores + i);
  }
  if (work.bias.empty()) return;
  const DistanceBias bias{work.bias, work.heads, task.head(q), task.row(q).position};
  for (size_t i = 0; i < count; ++i) scores[i] += float(bias.of(begin + i));
}

/// A thread's buffers, which grow to what the largest head needs.
struct Buffers {
  std::vector<float> queries, held;
};

void attend(const AttentionTask& task, Running& running) {
  static thread_local Buffers buffers;
  const size_t d = head_dim_of(*task.work.cache), width = task.width();
  const size_t queries = task.queries();
  buffers.queries.resize(std::max(buffers.queries.size(), kMinTileQueries * width));
  buffers.held.resize(std::max(buffers.held.size(), kKeys * width));
  float weights[kMinTileQueries][kKeys], factors[kMinTileQueries];
  for (size_t q = 0; q < queries; ++q) {
    float* to = buffers.queries.data() + q * width;
    std::copy_n(task.query(q), d, to);
    std::fill(to + d, to + width, 0.0f);
  }
  for (size_t begin = task.piece.begin, end = 0; begin < task.piece.end; begin = end) {
    end = task.block_end(begin);
    const auto range = [&](size_t q) {
      const AttentionRow& row = task.row(q);
      const size_t low = std::clamp(row.begin, begin, end) - begin;
      const size_t high = std::clamp(row.end, begin, end) - begin;
      return std::pair(low, std::max(low, high));
    };
    load_block(task, 0, begin, end, buffers.held.data());
    for (size_t q = 0; q < queries; ++q) {
      const auto [low, high] = range(q);
      if (low == high) continue;
      const float* query = buffers.queries.data() + q * width;
      float* scores = weights[q];
      for (size_t key = low; key < high; ++key) {
        scores[key] = dot(query, buffers.held.data() + key * width, width);
      }
      std::fill(scores, scores + low, 0.0f);
      std::fill(scores + high, scores + kKeys, 0.0f);
      adjust_scores(task, q, begin, end - begin, scores);
      weigh(low, high, scores, running.largest[q], running.total[q], factors[q]);
    }
    load_block(task, 1, begin, end, buffers.held.data());
    for (size_t q = 0; q < queries; ++q) {
      const auto [low, high] = range(q);
      if (low == high) continue;
      add_values(weights[q], buffers.held.data(), low, high, width, factors[q],
                 running.sums.data() + q * width);
    }
  }
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(attend);

void attend_few(const AttentionTask& task, Running& running) {
  HWY_DYNAMIC_DISPATCH(attend)(task, running);
}

}  // namespace tokamak
#endif
