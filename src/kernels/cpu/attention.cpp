#include "kernels/cpu/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "kernels/cpu/attention_task.h"

namespace tokamak {
namespace {

/// Queries of a piece: the more, the more share what is read of the cache. A step with enough of
/// them has at least kMinPieces.
constexpr size_t kMinQueries = 32, kMaxQueries = 128, kMinPieces = 64;

size_t rows_of_piece(const AttentionWork& work, size_t rows) {
  if (work.divides_keys) return 1;
  const size_t group = work.heads / work.cache->dims[2];
  const size_t queries = std::clamp(rows * work.heads / kMinPieces, kMinQueries, kMaxQueries);
  return std::max<size_t>(1, std::bit_floor(queries) / group);
}

std::vector<AttentionPiece> pieces_of(const AttentionWork& work,
                                      std::span<const AttentionRow> rows) {
  std::vector<AttentionPiece> pieces;
  const size_t kv_heads = work.cache->dims[2], together = rows_of_piece(work, rows.size());
  for (size_t first = 0; first < rows.size();) {
    size_t n = 1;
    while (n < together && first + n < rows.size() &&
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

/// Adds the sums of other keys of the same queries.
void merge(const Running& from, size_t queries, size_t width, Running& to) {
  for (size_t q = 0; q < queries; ++q) {
    const float largest = std::max(to.largest[q], from.largest[q]);
    const float mine = std::exp(to.largest[q] - largest);
    const float its = std::exp(from.largest[q] - largest);
    to.largest[q] = largest;
    to.total[q] = to.total[q] * mine + from.total[q] * its;
    for (size_t e = q * width; e < (q + 1) * width; ++e) {
      to.sums[e] = to.sums[e] * mine + from.sums[e] * its;
    }
  }
}

}  // namespace

void attend_rows(ThreadPool& pool, const AttentionWork& work, std::span<const AttentionRow> rows,
                 std::span<float> y, std::span<AttentionTotals> totals) {
  const size_t d = head_dim_of(*work.cache);
  const std::vector<AttentionPiece> pieces = pieces_of(work, rows);
  const auto finish = [&](const AttentionTask& task, const Running& own) {
    for (size_t q = 0; q < task.queries(); ++q) {
      const size_t head = task.head(q);
      const size_t at = (task.piece.first_row + q / task.group()) * work.heads + head;
      float total = own.total[q];
      if (!work.sinks.empty()) total += std::exp(work.sinks[head] - own.largest[q]);
      if (!totals.empty()) totals[at] = {own.largest[q], total};
      const float factor = totals.empty() ? 1 / total : 1;
      for (size_t i = 0; i < d; ++i) y[at * d + i] = own.sums[q * task.width() + i] * factor;
    }
  };
  std::vector<std::optional<Running>> parts(work.divides_keys ? pieces.size() : 0);
  pool.run(pieces.size(), [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const AttentionTask task{work, rows, pieces[i]};
      Running own(task.queries(), task.width());
      task.queries() < kMinTileQueries ? attend_few(task, own) : attend_tiles(task, own);
      work.divides_keys ? void(parts[i] = std::move(own)) : finish(task, own);
    }
  });
  for (size_t i = 0; i < parts.size();) {
    // The parts of a row and key head are neighbours.
    const AttentionTask task{work, rows, pieces[i]};
    Running& all = *parts[i++];
    for (; i < pieces.size() && pieces[i].part != 0; ++i) {
      merge(*parts[i], task.queries(), task.width(), all);
    }
    finish(task, all);
  }
}

}  // namespace tokamak
