#include "engine/requests/logits.h"

#include <algorithm>

#include "generate/steps/call_errors.h"

namespace tokamak {

Result<std::vector<float>> logits_after(Engine& engine, std::span<const uint32_t> ids,
                                        const LogitsOptions& options) {
  if (ids.empty()) return fail(ErrorCode::kUsage, "There are no tokens to give logits after.");
  const size_t vocab = engine.compiled().facts.vocab;
  std::vector<float> rows((options.all ? ids.size() : 1) * vocab);
  Request request;
  request.prompt.assign(ids.begin(), ids.end());
  TOK_TRY(request.adapter, adapter_number(engine.files(), options.adapter));
  request.params.max_tokens = 0;
  request.params.prompt_logprobs = options.all;
  request.callbacks.cancelled = options.cancelled;
  request.prompt_logits = [&](uint32_t token, std::span<const float> logits) {
    std::ranges::copy(logits, rows.begin() + std::ptrdiff_t(token * vocab));
  };
  request.logits = [&](std::span<const float> logits) {
    std::ranges::copy(logits, rows.end() - std::ptrdiff_t(vocab));
  };
  TOK_TRY(const Generation ended, engine.generate(std::move(request)));
  if (ended.finish == FinishReason::kCancelled) return call_was_cancelled();
  return rows;
}

}  // namespace tokamak
