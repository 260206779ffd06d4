#include "generate/speculate/prompt_lookup.h"

#include <algorithm>
#include <bit>

namespace tokamak {
namespace {

constexpr size_t kMinPlaces = 1024;

}  // namespace

size_t PromptLookup::place_of(std::span<const uint32_t> gram) const {
  uint64_t hash = 0;
  // An odd factor of many bits spreads the tokens over the upper ones (Knuth's multiplicative
  // hash).
  for (const uint32_t id : gram) hash = (hash + id + 1) * 0x9e3779b97f4a7c15u;
  return size_t(hash >> 32) & (tables_[gram.size() - 1].size() - 1);
}

void PromptLookup::add(std::span<const uint32_t> ids, size_t end) {
  for (size_t n = 1; n <= std::min<size_t>(kLongest, end); ++n) {
    tables_[n - 1][place_of(ids.subspan(end - n, n))] = uint32_t(end);
  }
}

Draft PromptLookup::draft(std::span<const uint32_t> ids, uint32_t most) {
  if (ids.empty() || most == 0) return {};
  // Twice as many places as tokens; making them anew takes as long as the tokens have so far.
  if (2 * ids.size() > tables_[0].size()) {
    for (Table& table : tables_)
      table.assign(std::max(kMinPlaces, 2 * std::bit_ceil(ids.size())), 0);
    indexed_ = 0;
  }
  // Nothing follows what ends at the last token yet.
  while (indexed_ + 1 < ids.size()) add(ids, ++indexed_);
  for (size_t n = std::min<size_t>(kLongest, ids.size()); n > 0; --n) {
    const std::span<const uint32_t> suffix = ids.last(n);
    const size_t end = tables_[n - 1][place_of(suffix)];
    if (end < n || !std::ranges::equal(ids.subspan(end - n, n), suffix)) continue;
    Draft draft;
    draft.match = uint32_t(n);
    while (draft.match < kMaxMatch && draft.match < end &&
           ids[end - draft.match - 1] == ids[ids.size() - draft.match - 1]) {
      ++draft.match;
    }
    for (size_t i = end; draft.ids.size() < most; ++i) {
      draft.ids.push_back(i < ids.size() ? ids[i] : draft.ids[i - ids.size()]);
    }
    return draft;
  }
  return {};
}

}  // namespace tokamak
