#include "engine/sound.h"
#include "engine/task.h"
#include "speech/transcriber.h"

namespace tokamak {

Result<std::unique_ptr<Transcriber>> make_transcriber(Engine& engine) {
  TOK_TRY(check_task(engine.compiled(), Task::kSpeech));
  auto made = Transcriber::make({.program = engine.program(),
                                 .model = *engine.compiled().speech,
                                 .description = engine.files().description,
                                 .tokenizer = engine.tokenizer().value_or(nullptr),
                                 .end_ids = engine.end_ids().value_or(std::vector<uint32_t>()),
                                 .vocab = engine.compiled().facts.vocab});
  if (!made) return Failure(made.error().within(engine.files().name));
  return made;
}

Result<Transcriber*> Engine::transcriber() {
  TOK_TRY(check_idle());
  if (transcriber_ == nullptr) {
    TOK_TRY(transcriber_, make_transcriber(*this));
  }
  return transcriber_.get();
}

}  // namespace tokamak
