#include "generate/sample/text_stream.h"

#include <algorithm>

namespace tokamak {

TextStream::TextStream(const Tokenizer* tokenizer, const GenerationParams& params,
                       const GenerationCallbacks& callbacks, GrammarCache& grammars)
    : end_ids_(params.end_ids.value_or(std::vector<uint32_t>())),
      max_tokens_(params.max_tokens),
      callbacks_(&callbacks),
      stop_(params.stop) {
  if (tokenizer != nullptr && params.has_text) decoder_.emplace(*tokenizer, true);
  if (params.grammar) {
    filter_.emplace(grammars.masks(params.grammar, *tokenizer), *tokenizer, end_ids_);
  }
  out_.seed = params.sampling.seed.value_or(0);
}

void TextStream::emit(std::string_view text) {
  out_.text += text;
  if (callbacks_->text && !text.empty()) callbacks_->text(text);
}

bool TextStream::take(uint32_t id, const Logprobs* logprobs) {
  out_.ids.push_back(id);
  if (callbacks_->token) callbacks_->token(id, logprobs);
  if (std::ranges::find(end_ids_, id) != end_ids_.end()) {
    out_.finish = FinishReason::kEndToken;
    return false;
  }
  if (decoder_) emit(stop_.push(decoder_->push(id)));
  if (stop_.stopped()) {
    out_.finish = FinishReason::kStopString;
    return false;
  }
  if (filter_) {
    filter_->push(id);
    if (filter_->is_finished()) {
      out_.finish = FinishReason::kGrammar;
      return false;
    }
  }
  if (out_.ids.size() == max_tokens_) return false;
  if (callbacks_->cancelled && callbacks_->cancelled()) {
    out_.finish = FinishReason::kCancelled;
    return false;
  }
  return true;
}

void TextStream::finish() {
  if (!stop_.stopped() && decoder_) emit(stop_.push(decoder_->finish()));
  emit(stop_.finish());
  if (!stop_.stopped()) return;
  out_.finish = FinishReason::kStopString;
  out_.stop = *stop_.matched();
}

}  // namespace tokamak
