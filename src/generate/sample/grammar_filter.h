// GrammarFilter: which tokens a grammar lets follow the text that was generated so far.
#pragma once
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
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
  bool is_finished() const { return matcher_.may_end() && !matcher_.may_continue(); }
  /// Whether mask() has nothing to do but to copy.
  bool has_mask();
  /// The tokens that may follow among the first `vocab`, bit id % 32 of word id / 32; valid until
  /// the next call. Errors: no token may follow, or the grammar has too many ways to go on.
  Result<std::span<const uint32_t>> mask(size_t vocab);
  /// The logits of what may follow, of everything else -infinity; valid until the next call.
  /// Errors: as mask().
  Result<std::span<const float>> allowed(std::span<const float> logits);
  /// The tokens that come next because the grammar leaves no choice, as the tokenizer cuts the
  /// text; without those at its end that a longer token may take the place of. They are not taken
  /// yet.
  std::vector<uint32_t> forced();
  /// Takes a token that allows().
  void push(uint32_t id);

 private:
  static constexpr float kRemoved = -std::numeric_limits<float>::infinity();

  /// Others that share the tables may have had them made anew.
  void use_shared_tables();
  /// `run` in tokens, after the text so far; nothing where a token would reach from one into the
  /// other.
  std::optional<std::vector<uint32_t>> tokens_of(std::string_view run) const;

  std::shared_ptr<GrammarMasks> masks_;
  std::shared_ptr<GrammarPlaces> places_;
  GrammarMatcher matcher_;
  const Tokenizer* tokenizer_;
  std::set<uint32_t> end_ids_;
  bool begins_ = true;
  std::string text_;  // the end of what there is, from the beginning of a token on
  std::vector<uint32_t> mask_;
  std::vector<float> logits_;
};

}  // namespace tokamak
