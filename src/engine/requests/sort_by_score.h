// Documents in the order of their scores.
#pragma once
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace tokamak {

/// The indices of the scores, the best first and equal ones as they come; at most `most`.
inline std::vector<size_t> sort_by_score(std::span<const float> scores, size_t most) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(order.size(), most));
  return order;
}

}  // namespace tokamak
