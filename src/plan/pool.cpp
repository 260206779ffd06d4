#include "plan/pool.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace tokamak {
namespace {

using Indices = std::vector<uint32_t>;
using Sizes = std::vector<uint64_t>;  // of buffers, the largest first

uint64_t sum(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
}

/// Buffers that are filled one tensor after another, in any order of time.
class Pool {
 public:
  explicit Pool(std::span<const Lifetime> tensors) : tensors_(tensors), buffer_(tensors.size()) {}

  /// Into the buffer that is free for the least time longer, or a new one. REQUIRES: no tensor
  /// before was smaller.
  void place(uint32_t tensor) {
    size_t best = bytes_.size();
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const uint32_t gap = gap_around(taken_[i], tensors_[tensor]);
      if (gap == 0 || gap >= least) continue;
      best = i;
      least = gap;
    }
    if (best == bytes_.size()) add_buffers({tensors_[tensor].bytes});
    put(tensor, uint32_t(best));
  }

  void add_buffers(const Sizes& sizes) {
    bytes_.insert(bytes_.end(), sizes.begin(), sizes.end());
    taken_.resize(bytes_.size());
  }
  void put(uint32_t tensor, uint32_t buffer) {
    taken_[buffer].emplace(tensors_[tensor].first, tensors_[tensor].last);
    buffer_[tensor] = buffer;
  }

  const Sizes& bytes() const { return bytes_; }
  Placement finish() && { return {std::move(buffer_), std::move(bytes_)}; }

 private:
  using Calendar = std::map<uint32_t, uint32_t>;  // of times that do not meet: beginning -> end

  /// How long a buffer is free around these times; 0 when it is not free at all of them.
  static uint32_t gap_around(const Calendar& taken, const Lifetime& time) {
    const auto next = taken.upper_bound(time.last);
    const uint32_t end = next == taken.end() ? UINT32_MAX : next->first;
    if (next == taken.begin()) return end;
    const uint32_t begin = std::prev(next)->second;
    return begin < time.first ? end - begin - 1 : 0;
  }

  std::span<const Lifetime> tensors_;
  Indices buffer_;
  Sizes bytes_;
  std::vector<Calendar> taken_;
};

/// Looks for the buffers of the smallest sum: guesses their sizes from below and sweeps over time
/// to see whether all tensors find place in them. Ways to have placed the tensors so far differ in
/// nothing but when which sizes become free, and few tensors are alive at once: there are not many.
class Search {
 public:
  /// `order`: the tensors in it, the largest first.
  Search(std::span<const Lifetime> tensors, const Indices& order)
      : tensors_(tensors), by_time_(order) {
    std::ranges::stable_sort(by_time_, {}, [&](uint32_t i) { return tensors_[i].first; });
    for (const uint32_t i : order) {
      if (sizes_.empty() || sizes_.back() != tensors_[i].bytes) sizes_.push_back(tensors_[i].bytes);
    }
  }

  /// A pool of less than `limit` bytes with all tensors in it.
  std::optional<Pool> run(uint64_t limit) {
    std::set<std::pair<uint64_t, Sizes>> guesses;
    const auto guess = [&](Sizes sizes) {
      std::ranges::sort(sizes, std::greater<>());
      const uint64_t bytes = sum(sizes);
      if (bytes < limit) guesses.emplace(bytes, std::move(sizes));
    };
    guess(least());
    while (!guesses.empty() && work_ < kMaxWork) {
      const Sizes sizes = guesses.extract(guesses.begin()).value().second;
      if (auto pool = sweep(sizes)) return pool;
      Sizes one_more = sizes;
      one_more.push_back(sizes_.back());
      guess(std::move(one_more));
      for (size_t i = 0; i < sizes.size(); ++i) {
        const auto same = std::ranges::find(sizes_, sizes[i]);
        if (same == sizes_.begin()) continue;
        Sizes larger = sizes;
        larger[i] = *std::prev(same);
        guess(std::move(larger));
      }
    }
    return std::nullopt;
  }

 private:
  /// Limits the ways to place tensors that are tried, so that a search takes milliseconds.
  static constexpr size_t kMaxWork = 1 << 16;

  /// One of the ways to have placed the first tensors.
  struct Way {
    size_t before = 0;    // the way without the last of them
    uint32_t buffer = 0;  // of the last
    Indices free_from;    // when each buffer is free again
  };

  /// Sizes that no placement can do without: as many of at least each size as such tensors meet.
  Sizes least() const {
    Sizes sizes;
    for (const uint64_t size : sizes_) {
      std::map<uint32_t, int> changes;
      for (const uint32_t i : by_time_) {
        if (tensors_[i].bytes < size) continue;
        ++changes[tensors_[i].first];
        --changes[tensors_[i].last + 1];
      }
      int alive = 0, most = 0;
      for (const auto& [moment, change] : changes) most = std::max(most, alive += change);
      sizes.resize(size_t(most), size);
    }
    return sizes;
  }

  /// The key that distinguishes ways: equal buffers do not.
  static Indices key(const Sizes& sizes, Indices free_from, uint32_t now) {
    for (uint32_t& moment : free_from) moment = std::max(moment, now);
    for (size_t begin = 0, end = 0; begin < sizes.size(); begin = end) {
      while (end < sizes.size() && sizes[end] == sizes[begin]) ++end;
      std::sort(free_from.begin() + std::ptrdiff_t(begin), free_from.begin() + std::ptrdiff_t(end));
    }
    return free_from;
  }

  std::optional<Pool> sweep(const Sizes& sizes) {
    std::vector<std::vector<Way>> ways = {{{0, 0, Indices(sizes.size())}}};
    for (const uint32_t tensor : by_time_) {
      const auto& [first, last, bytes] = tensors_[tensor];
      std::vector<Way> next;
      std::set<Indices> known;
      for (size_t w = 0; w < ways.back().size(); ++w) {
        const Indices& free_from = ways.back()[w].free_from;
        for (uint32_t i = 0; i < sizes.size() && sizes[i] >= bytes; ++i) {
          if (free_from[i] > first) continue;
          Way way{w, i, free_from};
          way.free_from[i] = last + 1;
          ++work_;
          if (known.insert(key(sizes, way.free_from, first)).second) next.push_back(std::move(way));
        }
      }
      if (next.empty() || work_ >= kMaxWork) return std::nullopt;
      ways.push_back(std::move(next));
    }
    Pool pool(tensors_);
    pool.add_buffers(sizes);
    for (size_t n = by_time_.size(), w = 0; n > 0; --n) {
      const Way& way = ways[n][w];
      pool.put(by_time_[n - 1], way.buffer);
      w = way.before;
    }
    return pool;
  }

  std::span<const Lifetime> tensors_;
  Indices by_time_;
  Sizes sizes_;  // of the tensors, each once
  size_t work_ = 0;
};

}  // namespace

Placement place_tensors(std::span<const Lifetime> tensors) {
  Indices order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    const Lifetime &one = tensors[a], &other = tensors[b];
    return one.bytes != other.bytes ? one.bytes > other.bytes : one.first < other.first;
  });
  constexpr uint64_t kSmall = 64;  // times less than the largest: not worth a search
  const auto small = std::ranges::find_if(
      order, [&](uint32_t i) { return tensors[i].bytes * kSmall < tensors[order.front()].bytes; });
  const Indices large(order.begin(), small);
  Pool pool(tensors);
  for (const uint32_t i : large) pool.place(i);
  if (auto least = Search(tensors, large).run(sum(pool.bytes()))) pool = std::move(*least);
  std::for_each(small, order.end(), [&](uint32_t i) { pool.place(i); });
  return std::move(pool).finish();
}

}  // namespace tokamak
