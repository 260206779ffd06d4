// TextStream: what becomes of the tokens of one generation: its text, and where it ends.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generate/sample/generation.h"
#include "generate/sample/grammar_cache.h"
#include "generate/sample/grammar_filter.h"
#include "generate/sample/stop.h"

namespace tokamak {

class TextStream {
 public:
  /// Everything outlives this. Without a tokenizer there are ids, but no text, no stop strings and
  /// no grammar.
  TextStream(const Tokenizer* tokenizer, const GenerationParams& params,
             const GenerationCallbacks& callbacks, GrammarCache& grammars);
  TextStream(TextStream&&) = default;

  /// Takes the next token, with its logprobs where they are asked for. False where it is the last,
  /// whatever may follow: finish_reason() says why.
  bool take(uint32_t id, const Logprobs* logprobs);
  /// The end: text that was held back, as no stop string has come of it.
  void finish();
  /// It ends here, for another reason than its tokens.
  void end_for(FinishReason reason) { out_.finish = reason; }

  /// The filter of tokens that a grammar does not allow; null without one.
  GrammarFilter* filter() { return filter_ ? &*filter_ : nullptr; }
  /// Text, ids, finish and stop so far.
  Generation& generation() { return out_; }
  const Generation& generation() const { return out_; }

 private:
  void emit(std::string_view text);

  std::vector<uint32_t> end_ids_;
  uint32_t max_tokens_;
  const GenerationCallbacks* callbacks_;
  std::optional<StreamDecoder> decoder_;
  StopMatcher stop_;
  std::optional<GrammarFilter> filter_;
  Generation out_;
};

}  // namespace tokamak
