#include "generate/generator.h"

#include <algorithm>

#include "generate/sampled_decoder.h"
#include "generate/text_stream.h"

namespace tokamak {

Result<Generation> generate(Session& session, const Tokenizer& tokenizer,
                            std::span<const uint32_t> prompt, const GenerationParams& params,
                            const GenerationCallbacks& callbacks, const Clock& clock) {
  TOK_TRY(Sampler sampler, Sampler::make(params.sampling));
  const double start = clock();
  GrammarCache grammars;
  TextStream stream(&tokenizer, params, callbacks, grammars);
  Generation& out = stream.generation();
  out.prompt_tokens = prompt.size();
  if (prompt.size() > session.context()) {
    return invalid_input("The prompt has {} tokens, but the context has {} positions.",
                         prompt.size(), session.context());
  }
  if (!prompt.empty()) out.cached_tokens = session.keep_prefix(prompt);
  auto logits = session.feed(prompt.subspan(out.cached_tokens), callbacks.cancelled);
  if (!logits && logits.error().code == ErrorCode::kCancelled) {
    stream.end_for(FinishReason::kCancelled);
    return std::move(out);
  }
  if (!logits) return Failure(std::move(logits).error());
  if (params.max_tokens == 0) out.prefill_seconds = clock() - start;
  // Penalties are for tokens, and an image is none.
  std::vector<uint32_t> history;
  std::ranges::copy_if(prompt, std::back_inserter(history),
                       [&](uint32_t id) { return id < session.vocab(); });
  const auto take = [&](uint32_t id, const Logprobs* own) {
    if (out.ids.empty()) out.prefill_seconds = clock() - start;
    history.push_back(id);
    return stream.take(id, own);
  };
  const bool on_device = is_plain_greedy(params);
  SampledDecoder decoding(session, sampler, stream.filter());
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
      stream.end_for(FinishReason::kContextFull);
      break;
    }
    if (!goes_on) break;
    TOK_TRY(logits, session.feed({&out.ids.back(), 1}));
  }
  stream.finish();
  out.decode_seconds = clock() - start - out.prefill_seconds;
  return std::move(out);
}

}  // namespace tokamak
