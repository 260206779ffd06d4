#include "generate/grammar_filter.h"

#include <algorithm>
#include <bit>

namespace tokamak {

GrammarFilter::GrammarFilter(std::shared_ptr<GrammarMasks> masks, const Tokenizer& tokenizer,
                             std::span<const uint32_t> end_ids)
    : masks_(std::move(masks)),
      places_(masks_->places()),
      matcher_(places_),
      tokenizer_(&tokenizer),
      end_ids_(end_ids.begin(), end_ids.end()) {}

void GrammarFilter::use_shared_tables() {
  masks_->renew_if_full();
  if (places_ == masks_->places()) return;
  places_ = masks_->places();
  matcher_.move_to(places_);
}

bool GrammarFilter::allows(uint32_t id) {
  if (end_ids_.contains(id)) return matcher_.may_end();
  use_shared_tables();
  if (const TokenSet* known = masks_->known_after(matcher_.here(), begins_)) {
    return has_token(*known, id);
  }
  if (tokenizer_->is_special(id)) return false;
  const std::string bytes = tokenizer_->bytes(id, begins_);
  return !bytes.empty() && matcher_.allows(bytes);
}

Result<std::span<const float>> GrammarFilter::allowed(std::span<const float> logits) {
  use_shared_tables();
  const TokenSet& mask = masks_->after(matcher_.here(), begins_);
  logits_.assign(logits.size(), kRemoved);
  bool any = false;
  for (size_t i = 0; i < mask.size(); ++i) {
    for (uint64_t word = mask[i]; word != 0; word &= word - 1) {
      const size_t id = 64 * i + size_t(std::countr_zero(word));
      if (id >= logits.size() || end_ids_.contains(uint32_t(id))) continue;
      logits_[id] = logits[id];
      any = true;
    }
  }
  for (const uint32_t id : end_ids_) {
    if (!matcher_.may_end() || id >= logits.size()) continue;
    logits_[id] = logits[id];
    any = true;
  }
  if (!is_sure()) {
    return invalid_input(
        "The grammar has more than {} ways to go on after the text so far; repetitions of what "
        "may be empty, or of each other, are the commonest cause.",
        GrammarMatcher::kMaxThreads);
  }
  if (!any) {
    return invalid_input(
        "No token of the vocabulary goes on with the text so far as the grammar says{}.",
        matcher_.may_end() ? ", and the model has no token that ends it" : "");
  }
  return logits_;
}

void GrammarFilter::push(uint32_t id) {
  if (end_ids_.contains(id)) return;
  use_shared_tables();
  matcher_.push(tokenizer_->bytes(id, begins_));
  begins_ = false;
}

}  // namespace tokamak
