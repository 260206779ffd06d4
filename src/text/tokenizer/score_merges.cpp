#include "text/tokenizer/score_merges.h"

#include <algorithm>

#include "text/unicode/unicode.h"

namespace tokamak {

std::vector<Bpe::Merge> merges_by_score(const Vocabulary& vocabulary, std::span<const float> scores,
                                        const std::vector<bool>& is_piece) {
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < vocabulary.size(); ++id) {
    if (is_piece[id] && vocabulary.has(id)) order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  const auto find_piece = [&](std::string_view text) -> std::optional<uint32_t> {
    const auto id = vocabulary.find(text);
    return id && is_piece[*id] ? id : std::nullopt;
  };
  std::vector<Bpe::Merge> merges;
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && scores[order[i]] != scores[order[i - 1]]) ++rank;
    const std::string_view text = vocabulary.token(order[i]);
    size_t cut = first_char(text).bytes;
    while (cut < text.size()) {
      const auto left = find_piece(text.substr(0, cut));
      const auto right = left ? find_piece(text.substr(cut)) : std::nullopt;
      if (right) merges.push_back({*left, *right, order[i], rank});
      cut += first_char(text.substr(cut)).bytes;
    }
  }
  return merges;
}

}  // namespace tokamak
