// Generation: prefill, then one token after another, sampled, decoded and streamed as text.
#pragma once
#include <span>

#include "generate/generation.h"
#include "generate/session.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {

/// Continues `prompt`, the whole sequence from its start, on `session`: what the session holds of
/// it does not run again (Session::keep_prefix). Cancelling is no error: what there is comes back.
/// Errors: a prompt that does not fit, parameters out of range, logits that are no numbers, a
/// grammar that no token follows, the device's.
Result<Generation> generate(Session& session, const Tokenizer& tokenizer,
                            std::span<const uint32_t> prompt, const GenerationParams& params,
                            const GenerationCallbacks& callbacks, const Clock& clock);

}  // namespace tokamak
