#include "engine/engine.h"
#include "engine/task.h"
#include "speech/transcriber.h"

namespace tokamak {

Result<Transcriber*> Engine::transcriber() {
  TOK_TRY(check_task(compiled_, Task::kSpeech));
  TOK_TRY(check_idle());
  if (transcriber_ == nullptr) {
    auto made = Transcriber::make({.program = *program_,
                                   .model = *compiled_.speech,
                                   .description = files_.description,
                                   .tokenizer = tokenizer_ ? &*tokenizer_ : nullptr,
                                   .end_ids = defaults_.end_ids.value_or(std::vector<uint32_t>()),
                                   .vocab = compiled_.facts.vocab});
    if (!made) return Failure(made.error().within(files_.name));
    transcriber_ = *std::move(made);
  }
  return transcriber_.get();
}

}  // namespace tokamak
