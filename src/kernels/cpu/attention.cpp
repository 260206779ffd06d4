#include "kernels/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "graph/kv_cache.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vectors.h"
//
#include <hwy/contrib/math/math-inl.h>

#ifndef TOKAMAK_CPU_ATTENTION_ONCE
#define TOKAMAK_CPU_ATTENTION_ONCE
namespace tokamak {
namespace {

/// Keys that are looked at together, and queries that share them.
constexpr size_t kKeys = 64, kQueries = 32;
/// From that many queries on keys are turned, so that a lane is a key.
constexpr size_t kTurnFrom = 8;
/// Rows are filled up with zeros to a multiple of this many elements.
constexpr size_t kWidth = 16;
constexpr float kLowest = -3e38f;

/// Some rows of one sequence, one key head and a range of keys.
struct AttentionPiece {
  size_t first_row = 0, rows = 0, kv_head = 0;
  size_t begin = 0, end = 0;  // positions of any of the rows
  size_t part = 0;
};

/// Sums so far of each query of a piece, [row][query head of the key head].
struct Running {
  std::vector<float> sums, largest, total;
};

/// A thread's buffers, which grow to what the largest head needs.
struct AttentionBuffers {
  std::vector<float> queries, held, turned, weights;
};

}  // namespace
}  // namespace tokamak
#endif

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

/// Keys or values [begin, end) of a head as f32, [position][width].
void load_block(const AttentionWork& work, std::span<const uint32_t> pages, size_t part,
                size_t head, size_t begin, size_t end, size_t width, float* to) {
  const CpuTensor& cache = *work.cache;
  const size_t heads = cache.dims[2], d = head_dim_of(cache), stride = cache.dims[3];
  for (size_t position = begin; position < end; ++position, to += width) {
    const size_t cell = pages[position / kPageTokens] * kPageTokens + position % kPageTokens;
    if (cache.dtype == kQ8Cache) {
      const std::byte* own = cache.data + cell * 2 * heads * stride;
      const std::byte* bytes = own + (part * heads + head) * d;
      float step = 0;
      std::memcpy(&step, own + 2 * heads * d + (2 * head + part) * sizeof(float), sizeof step);
      const F steps = hn::Set(Floats(), step), middle = hn::Set(Floats(), 128.0f);
      size_t i = 0;
      for (; i + kLanes <= d; i += kLanes) {
        hn::StoreU(hn::Mul(hn::Sub(load_bytes(bytes + i), middle), steps), Floats(), to + i);
      }
      for (; i < d; ++i) to[i] = (float(uint8_t(bytes[i])) - 128.0f) * step;
    } else {
      const size_t first = ((cell * 2 + part) * heads + head) * d;
      if (cache.dtype == DType::kF32) {
        std::memcpy(to, cache.data + 4 * first, d * sizeof(float));
      } else {
        const std::byte* own = cache.data + 2 * first;
        size_t i = 0;
        for (; i + kLanes <= d; i += kLanes) hn::StoreU(load_f16(own + 2 * i), Floats(), to + i);
        for (; i < d; ++i) to[i] = cache.load(first + i);
      }
    }
    std::fill(to + d, to + width, 0.0f);
  }
}

HWY_INLINE float dot(const float* a, const float* b, size_t width) {
  const Floats f;
  F sums[2] = {hn::Zero(f), hn::Zero(f)};
  for (size_t i = 0; i < width; i += kLanes) {
    sums[i / kLanes % 2] =
        hn::MulAdd(hn::LoadU(f, a + i), hn::LoadU(f, b + i), sums[i / kLanes % 2]);
  }
  return sum_of(hn::Add(sums[0], sums[1]));
}

/// Scores of one query: its products with kKeys keys that lie [element][key].
HWY_INLINE void turned_scores(const float* query, const float* turned, size_t d, float* scores) {
  const Floats f;
  constexpr size_t kVectors = kKeys / kLanes < 4 ? kKeys / kLanes : 4;
  for (size_t first = 0; first < kKeys; first += kVectors * kLanes) {
    F sums[kVectors];
    for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(f);
    for (size_t i = 0; i < d; ++i) {
      const F own = hn::Set(f, query[i]);
      for (size_t v = 0; v < kVectors; ++v) {
        sums[v] = hn::MulAdd(own, hn::LoadU(f, turned + i * kKeys + first + v * kLanes), sums[v]);
      }
    }
    for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], f, scores + first + v * kLanes);
  }
}

/// Scores of keys [0, count) become weights exp(score - largest); those not in [low, high) 0.
void weigh(size_t low, size_t high, float* scores, float& largest, float& total, float& factor) {
  const Floats f;
  std::fill(scores, scores + low, kLowest);
  std::fill(scores + high, scores + kKeys, kLowest);
  F most = hn::Set(f, largest), nothing = hn::Zero(f);
  for (size_t i = 0; i < kKeys; i += kLanes) {
    const F s = hn::LoadU(f, scores + i);
    most = hn::Max(most, s);
    nothing = hn::MulAdd(s, hn::Zero(f), nothing);  // no number if a score is none
  }
  const float before = largest;
  largest = hn::GetLane(hn::MaxOfLanes(f, most));
  factor = before == kLowest ? 0.0f : std::exp(before - largest);
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

void adjust_scores(const AttentionWork& work, const AttentionRow& row, size_t head, size_t begin,
                   size_t count, float* scores) {
  const Floats f;
  for (size_t i = 0; i < kKeys; i += kLanes) {
    F s = hn::Mul(hn::LoadU(f, scores + i), hn::Set(f, work.scale));
    if (work.softcap > 0) {
      const F cap = hn::Set(f, work.softcap);
      s = hn::Mul(hn::Tanh(f, hn::Div(s, cap)), cap);
    }
    hn::StoreU(s, f, scores + i);
  }
  if (work.bias.empty()) return;
  const DistanceBias bias{work.bias, work.heads, head, row.position};
  for (size_t i = 0; i < count; ++i) scores[i] += float(bias.of(begin + i));
}

void attend_piece(const AttentionWork& work, std::span<const AttentionRow> rows,
                  const AttentionPiece& piece, Running& running) {
  static thread_local AttentionBuffers buffers;
  const size_t d = head_dim_of(*work.cache), width = round_up(d, kWidth);
  const size_t group = work.heads / work.cache->dims[2], queries = piece.rows * group;
  const auto room = [](std::vector<float>& buffer, size_t size) {
    if (buffer.size() < size) buffer.resize(size);
  };
  room(buffers.queries, queries * width);
  room(buffers.held, kKeys * width);
  room(buffers.turned, kKeys * width);
  room(buffers.weights, queries * kKeys);
  std::vector<float> factors(queries);
  for (size_t q = 0; q < queries; ++q) {
    const AttentionRow& row = rows[piece.first_row + q / group];
    float* to = buffers.queries.data() + q * width;
    std::copy_n(row.queries + (piece.kv_head * group + q % group) * d, d, to);
    std::fill(to + d, to + width, 0.0f);
  }
  const std::span<const uint32_t> pages = rows[piece.first_row].pages;
  const bool turns = queries >= kTurnFrom;
  for (size_t begin = piece.begin; begin < piece.end; begin += kKeys) {
    const size_t count = std::min(piece.end - begin, kKeys);
    const auto range = [&](size_t q) {
      const AttentionRow& row = rows[piece.first_row + q / group];
      const size_t low = std::clamp(row.begin, begin, begin + count) - begin;
      const size_t high = std::clamp(row.end, begin, begin + count) - begin;
      return std::pair(low, std::max(low, high));
    };
    load_block(work, pages, 0, piece.kv_head, begin, begin + count, width, buffers.held.data());
    if (turns) {
      for (size_t key = 0; key < kKeys; ++key) {
        const float* from = buffers.held.data() + std::min(key, count - 1) * width;
        for (size_t i = 0; i < d; ++i) buffers.turned[i * kKeys + key] = from[i];
      }
    }
    for (size_t q = 0; q < queries; ++q) {
      const auto [low, high] = range(q);
      if (low == high) continue;
      const AttentionRow& row = rows[piece.first_row + q / group];
      const float* query = buffers.queries.data() + q * width;
      float* scores = buffers.weights.data() + q * kKeys;
      if (turns) {
        turned_scores(query, buffers.turned.data(), d, scores);
      } else {
        for (size_t key = low; key < high; ++key) {
          scores[key] = dot(query, buffers.held.data() + key * width, width);
        }
        std::fill(scores, scores + low, 0.0f);
        std::fill(scores + high, scores + kKeys, 0.0f);
      }
      adjust_scores(work, row, piece.kv_head * group + q % group, begin, count, scores);
      weigh(low, high, scores, running.largest[q], running.total[q], factors[q]);
    }
    load_block(work, pages, 1, piece.kv_head, begin, begin + count, width, buffers.held.data());
    for (size_t q = 0; q < queries; ++q) {
      const auto [low, high] = range(q);
      if (low == high) continue;
      add_values(buffers.weights.data() + q * kKeys, buffers.held.data(), low, high, width,
                 factors[q], running.sums.data() + q * width);
    }
  }
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {
namespace {

HWY_EXPORT(attend_piece);

std::vector<AttentionPiece> pieces_of(const AttentionWork& work,
                                      std::span<const AttentionRow> rows) {
  std::vector<AttentionPiece> pieces;
  const size_t kv_heads = work.cache->dims[2];
  const size_t together = std::max<size_t>(1, kQueries / (work.heads / kv_heads));
  for (size_t first = 0; first < rows.size();) {
    size_t n = 1;
    while (!work.divides_keys && n < together && first + n < rows.size() &&
           rows[first + n].pages.data() == rows[first].pages.data()) {
      ++n;
    }
    size_t begin = rows[first].begin, end = rows[first].end;
    for (size_t i = first; i < first + n; ++i) {
      begin = std::min(begin, rows[i].begin);
      end = std::max(end, rows[i].end);
    }
    const size_t each = work.divides_keys ? kKeysOfPart : end - begin;
    for (size_t head = 0; head < kv_heads; ++head) {
      for (size_t at = begin, part = 0; at < end; at += each, ++part) {
        pieces.push_back({first, n, head, at, std::min(at + each, end), part});
      }
    }
    first += n;
  }
  return pieces;
}

}  // namespace

void attend_rows(ThreadPool& pool, const AttentionWork& work, std::span<const AttentionRow> rows,
                 std::span<float> y, std::span<AttentionTotals> totals) {
  const size_t d = head_dim_of(*work.cache), width = round_up(d, kWidth);
  const size_t group = work.heads / work.cache->dims[2];
  const std::vector<AttentionPiece> pieces = pieces_of(work, rows);
  std::vector<Running> running(pieces.size());
  const auto finish = [&](const AttentionPiece& piece, const Running& own) {
    for (size_t q = 0; q < piece.rows * group; ++q) {
      const size_t head = piece.kv_head * group + q % group;
      const size_t at = (piece.first_row + q / group) * work.heads + head;
      float total = own.total[q];
      if (!work.sinks.empty()) total += std::exp(work.sinks[head] - own.largest[q]);
      if (!totals.empty()) totals[at] = {own.largest[q], total};
      const float factor = totals.empty() ? 1 / total : 1;
      for (size_t i = 0; i < d; ++i) y[at * d + i] = own.sums[q * width + i] * factor;
    }
  };
  const auto compute = HWY_DYNAMIC_DISPATCH(attend_piece);
  pool.run(pieces.size(), [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const size_t queries = pieces[i].rows * group;
      Running& own = running[i];
      own.sums.assign(queries * width, 0.0f);
      own.largest.assign(queries, kLowest);
      own.total.assign(queries, 0.0f);
      compute(work, rows, pieces[i], own);
      if (!work.divides_keys) {
        finish(pieces[i], own);
        own = {};
      }
    }
  });
  if (!work.divides_keys) return;
  for (size_t i = 0; i < pieces.size();) {
    // The parts of a row and key head are neighbours.
    Running all = std::move(running[i]);
    const AttentionPiece& piece = pieces[i++];
    for (; i < pieces.size() && pieces[i].part != 0; ++i) {
      for (size_t q = 0; q < group; ++q) {
        const float largest = std::max(all.largest[q], running[i].largest[q]);
        const float mine = std::exp(all.largest[q] - largest);
        const float its = std::exp(running[i].largest[q] - largest);
        all.largest[q] = largest;
        all.total[q] = all.total[q] * mine + running[i].total[q] * its;
        for (size_t e = q * width; e < (q + 1) * width; ++e) {
          all.sums[e] = all.sums[e] * mine + running[i].sums[e] * its;
        }
      }
    }
    finish(piece, all);
  }
}

}  // namespace tokamak
#endif
