#include "generate/grammar_filter.h"

namespace tokamak {

GrammarFilter::GrammarFilter(const Grammar& grammar, const Tokenizer& tokenizer,
                             std::span<const uint32_t> end_ids)
    : matcher_(grammar), tokenizer_(&tokenizer), end_ids_(end_ids.begin(), end_ids.end()) {}

bool GrammarFilter::allows(uint32_t id) {
  if (end_ids_.contains(id)) return matcher_.may_end();
  // Special tokens are not shown, so they would follow each other for ever.
  if (tokenizer_->is_special(id)) return false;
  if (!begins_ && id < bytes_.size()) return !bytes_[id].empty() && matcher_.allows(bytes_[id]);
  const std::string bytes = tokenizer_->bytes(id, begins_);
  return !bytes.empty() && matcher_.allows(bytes);
}

Result<std::span<const float>> GrammarFilter::allowed(std::span<const float> logits) {
  if (!begins_ && bytes_.empty()) {
    for (uint32_t id = 0; id < tokenizer_->vocab_size(); ++id) {
      bytes_.push_back(tokenizer_->bytes(id));
    }
  }
  logits_.assign(logits.begin(), logits.end());
  bool any = false;
  for (uint32_t id = 0; id < logits_.size(); ++id) {
    if (allows(id)) {
      any = true;
    } else {
      logits_[id] = kRemoved;
    }
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
  matcher_.push(tokenizer_->bytes(id, begins_));
  begins_ = false;
}

}  // namespace tokamak
