#include "generate/generator.h"

#include <algorithm>
#include <optional>

#include "generate/grammar_filter.h"
#include "generate/sampled_decoder.h"
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
    case FinishReason::kGrammar:
      return "grammar";
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
  out.seed = params.sampling.seed.value_or(0);
  const std::vector<uint32_t> end_ids = params.end_ids.value_or(std::vector<uint32_t>());
  if (prompt.size() > session.context()) {
    return invalid_input("The prompt has {} tokens, but the context has {} positions.",
                         prompt.size(), session.context());
  }
  if (!prompt.empty()) out.cached_tokens = session.keep_prefix(prompt);
  auto logits = session.feed(prompt.subspan(out.cached_tokens), callbacks.cancelled);
  if (!logits && logits.error().code == ErrorCode::kCancelled) {
    out.finish = FinishReason::kCancelled;
    return out;
  }
  if (!logits) return Failure(std::move(logits).error());
  if (params.max_tokens == 0) out.prefill_seconds = clock() - start;
  StreamDecoder decoder(tokenizer, true);
  StopMatcher stop(params.stop);
  std::optional<GrammarFilter> filter;
  if (params.grammar) filter.emplace(*params.grammar, tokenizer, end_ids);
  std::vector<uint32_t> history(prompt.begin(), prompt.end());
  const auto emit = [&](std::string_view text) {
    out.text += text;
    if (callbacks.text && !text.empty()) callbacks.text(text);
  };
  // Takes a token; false where it is the last, whatever may follow.
  const auto take = [&](uint32_t id, const Logprobs* own) {
    if (out.ids.empty()) out.prefill_seconds = clock() - start;
    out.ids.push_back(id);
    history.push_back(id);
    if (callbacks.token) callbacks.token(id, own);
    if (std::ranges::find(end_ids, id) != end_ids.end()) {
      out.finish = FinishReason::kEndToken;
      return false;
    }
    emit(stop.push(decoder.push(id)));
    if (stop.stopped()) {
      out.finish = FinishReason::kStopString;
      return false;
    }
    if (filter) {
      filter->push(id);
      if (filter->is_finished()) {
        out.finish = FinishReason::kGrammar;
        return false;
      }
    }
    if (out.ids.size() == params.max_tokens) return false;
    if (callbacks.cancelled && callbacks.cancelled()) {
      out.finish = FinishReason::kCancelled;
      return false;
    }
    return true;
  };
  const bool on_device = params.sampling.temperature == 0 &&
                         params.sampling.repetition_penalty == 1 && !params.logprobs && !filter;
  SampledDecoder decoding(session, sampler, filter ? &*filter : nullptr);
  const bool by_lists = !params.logprobs && decoding.takes_lists();
  bool goes_on = params.max_tokens > 0;
  while (goes_on) {
    TOK_TRY(const uint32_t id, decoding.sampled_from_all(*logits, history, out.ids.size()));
    Logprobs own;
    if (params.logprobs) {
      TOK_TRY(own, logprobs(*logits, id, params.top_logprobs));
    }
    goes_on = take(id, params.logprobs ? &own : nullptr);
    while (goes_on && on_device && session.greedy_room() > 0) {
      const uint32_t count =
          std::min(session.greedy_room(), params.max_tokens - uint32_t(out.ids.size()));
      TOK_TRY(session.greedy(out.ids.back(), count, [&](uint32_t chosen) {
        goes_on = take(chosen, nullptr);
        return goes_on;
      }));
    }
    while (goes_on && by_lists && session.gives_list()) {
      TOK_TRY(decoding.run(params.max_tokens - uint32_t(out.ids.size()), history, out.ids.size(),
                           [&](uint32_t drawn) { return goes_on = take(drawn, nullptr); }));
    }
    if (goes_on && session.position() == session.context()) {
      out.finish = FinishReason::kContextFull;
      break;
    }
    if (!goes_on) break;
    TOK_TRY(logits, session.feed({&out.ids.back(), 1}));
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
