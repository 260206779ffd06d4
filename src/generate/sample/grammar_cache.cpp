#include "generate/sample/grammar_cache.h"

#include <algorithm>

namespace tokamak {

std::shared_ptr<GrammarMasks> GrammarCache::masks(const std::shared_ptr<const Grammar>& grammar,
                                                  const Tokenizer& tokenizer) {
  if (!vocabulary_) vocabulary_ = std::make_shared<const GrammarVocabulary>(tokenizer);
  const auto known = std::ranges::find_if(masks_, [&](const auto& one) {
    return &one->grammar() == grammar.get() || one->grammar().source() == grammar->source();
  });
  if (known != masks_.end() && !(*known)->places()->is_too_wide()) {
    masks_.splice(masks_.begin(), masks_, known);
  } else {
    // The text that made them too wide keeps its own.
    if (known != masks_.end()) masks_.erase(known);
    masks_.push_front(std::make_shared<GrammarMasks>(grammar, vocabulary_));
    if (masks_.size() > kMaxGrammars) masks_.pop_back();
  }
  return masks_.front();
}

}  // namespace tokamak
