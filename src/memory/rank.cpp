#include "memory/rank.h"

#include <algorithm>
#include <map>

namespace tokamak::memory {

std::vector<Ranked> fuse(std::span<const int64_t> one, std::span<const int64_t> other) {
  constexpr double kDamping = 60;
  std::map<int64_t, double> scores;
  for (const std::span<const int64_t> list : {one, other}) {
    for (size_t i = 0; i < list.size(); ++i) scores[list[i]] += 1 / (kDamping + double(i + 1));
  }
  std::vector<Ranked> out;
  for (const auto& [id, score] : scores) out.push_back({id, score});
  std::ranges::stable_sort(out, std::greater(), &Ranked::score);
  return out;
}

}  // namespace tokamak::memory
