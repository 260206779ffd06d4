#include "engine/engine.h"
#include "engine/task.h"
#include "speech/transcriber.h"

namespace tokamak {

Result<Transcriber*> Engine::transcriber() {
  TOK_TRY(check_task(compiled_, Task::kSpeech));
  TOK_TRY(check_idle());
  if (transcriber_ == nullptr) {
    TOK_TRY(transcriber_,
            Transcriber::make({.program = *program_,
                               .model = *compiled_.speech,
                               .description = files_.description,
                               .tokenizer = tokenizer_ ? &*tokenizer_ : nullptr,
                               .end_ids = defaults_.end_ids.value_or(std::vector<uint32_t>()),
                               .vocab = compiled_.facts.vocab}));
  }
  return transcriber_.get();
}

}  // namespace tokamak
