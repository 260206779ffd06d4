// GrammarCache: what grammars let follow, kept for those that are used again.
#pragma once
#include <list>
#include <memory>

#include "text/grammar/masks.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {

/// For one tokenizer, used by one thread.
class GrammarCache {
 public:
  /// The tables for the grammar, or for one from the same text. REQUIRES: always the same
  /// tokenizer.
  std::shared_ptr<GrammarMasks> masks(const std::shared_ptr<const Grammar>& grammar,
                                      const Tokenizer& tokenizer);

 private:
  static constexpr size_t kMaxGrammars = 16;

  std::shared_ptr<const GrammarVocabulary> vocabulary_;
  std::list<std::shared_ptr<GrammarMasks>> masks_;  // last used first
};

}  // namespace tokamak
