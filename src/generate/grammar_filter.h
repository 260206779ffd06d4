// GrammarFilter: which tokens a grammar lets follow the text that was generated so far.
#pragma once
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "text/grammar/masks.h"
#include "text/grammar/matcher.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {

class GrammarFilter {
 public:
  /// The tokenizer, whose vocabulary `masks` has, outlives this. `end_ids`: tokens that end the
  /// text, where the grammar lets it end.
  GrammarFilter(std::shared_ptr<GrammarMasks> masks, const Tokenizer& tokenizer,
                std::span<const uint32_t> end_ids);

  bool allows(uint32_t id);
  /// Whether what it does not allow may really not follow; if not, allowed() says why.
  bool is_sure() const { return !matcher_.is_too_wide(); }
  /// Whether nothing may follow: the text is whole.
  bool is_finished() const { return matcher_.may_end() && !matcher_.may_go_on(); }
  /// The logits of what may follow, of everything else -infinity; valid until the next call.
  /// Errors: no token may follow, or the grammar has too many ways to go on.
  Result<std::span<const float>> allowed(std::span<const float> logits);
  /// Takes a token that allows().
  void push(uint32_t id);

 private:
  static constexpr float kRemoved = -std::numeric_limits<float>::infinity();

  /// Others that share the tables may have had them made anew.
  void use_shared_tables();

  std::shared_ptr<GrammarMasks> masks_;
  std::shared_ptr<GrammarPlaces> places_;
  GrammarMatcher matcher_;
  const Tokenizer* tokenizer_;
  std::set<uint32_t> end_ids_;
  bool begins_ = true;
  std::vector<float> logits_;
};

}  // namespace tokamak
