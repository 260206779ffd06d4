#include "generate/generator.h"

#include <algorithm>

#include "generate/stop.h"

namespace tokamak {

std::string_view finish_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndToken:
      return "end";
    case FinishReason::kStopString:
      return "stop";
    case FinishReason::kMaxTokens:
      return "length";
    case FinishReason::kContextFull:
      return "context";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "";
}

Result<Generation> generate(Session& session, const Tokenizer& tokenizer,
                            std::span<const uint32_t> prompt, const GenerationParams& params,
                            const GenerationCallbacks& callbacks, const Clock& clock) {
  TOK_TRY(Sampler sampler, Sampler::make(params.sampling));
  const double start = clock();
  Generation out;
  out.prompt_tokens = prompt.size();
  auto logits = session.feed(prompt, callbacks.cancelled);
  if (!logits && logits.error().code == ErrorCode::kCancelled) {
    out.finish = FinishReason::kCancelled;
    return out;
  }
  StreamDecoder decoder(tokenizer, true);
  StopMatcher stop(params.stop);
  std::vector<uint32_t> history(prompt.begin(), prompt.end());
  const auto emit = [&](std::string_view text) {
    out.text += text;
    if (callbacks.text && !text.empty()) callbacks.text(text);
  };
  for (uint32_t n = 0; n < params.max_tokens; ++n) {
    if (!logits) return Failure(std::move(logits).error());
    TOK_TRY(const uint32_t id, sampler.next(*logits, history, n));
    if (n == 0) out.prefill_seconds = clock() - start;
    Logprobs own;
    if (params.logprobs) {
      TOK_TRY(own, logprobs(*logits, id, params.top_logprobs));
    }
    out.ids.push_back(id);
    history.push_back(id);
    if (callbacks.token) callbacks.token(id, params.logprobs ? &own : nullptr);
    if (std::ranges::find(params.end_ids, id) != params.end_ids.end()) {
      out.finish = FinishReason::kEndToken;
      break;
    }
    emit(stop.push(decoder.push(id)));
    if (stop.stopped()) {
      out.finish = FinishReason::kStopString;
      break;
    }
    if (n + 1 == params.max_tokens) break;
    if (session.position() == session.context()) {
      out.finish = FinishReason::kContextFull;
      break;
    }
    if (callbacks.cancelled && callbacks.cancelled()) {
      out.finish = FinishReason::kCancelled;
      break;
    }
    logits = session.feed({&id, 1});
  }
  if (!stop.stopped()) emit(stop.push(decoder.finish()));
  emit(stop.finish());
  if (stop.stopped()) {
    out.finish = FinishReason::kStopString;
    out.stop = *stop.matched();
  }
  out.decode_seconds = clock() - start - out.prefill_seconds;
  return out;
}

}  // namespace tokamak
