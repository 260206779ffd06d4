// TalkSession: a spoken conversation, with the models that hear, answer and speak. One thread does
// all of it; while it computes it listens and lets the answer be written, between one frame of a
// sound and the next.
#pragma once
#include "apps/cli/chat/chat_conversation.h"
#include "apps/cli/chat/reasoned_answer.h"
#include "apps/cli/sound/sound_line.h"
#include "speech/narrator.h"
#include "speech/transcriber.h"
#include "talk/talk_loop.h"

namespace tokamak::cli {

/// The parts that a conversation works with. REQUIRES: all of it outlives the session.
struct TalkParts {
  Engine& chat;
  Transcriber& ears;
  Narrator& mouth;
  SoundLine& line;
  const Reasoning& reasoning;
  Think think;
  Json template_variables;
  GenerationParams generation;
  TranscribeOptions hearing;
  NarrationOptions speaking;
  TalkOptions options;
  std::string system;                                  // what the model is told first
  std::function<Result<void>(std::string_view)> show;  // what is said by either side
};

class TalkSession {
 public:
  explicit TalkSession(TalkParts parts)
      : parts_(std::move(parts)),
        loop_(parts_.options, parts_.mouth.rate()),
        conversation_(parts_.system) {}

  /// Until the line ends or there is a Ctrl-C.
  Result<void> run();
  const Conversation& conversation() const { return conversation_; }

 private:
  using Task = TalkLoop::Task;
  /// An answer on its way.
  struct Writing {
    Scheduler* scheduler = nullptr;
    std::unique_ptr<AnswerReader> reader;      // reasoning is not said
    std::string unsaid;                        // text that the narrator has not got
    std::optional<Result<Generation>> result;  // once all of it is there
  };

  /// Lets time pass, up to where there is something else to do. `waits`: nothing is until then.
  Result<void> pass_time(bool waits);
  /// Asked while something is computed for that task: whether it need not go on.
  bool must_stop(Task task);
  Result<void> transcribe();
  Result<void> answer();
  /// That of the conversation, which forgets its beginning where it has grown too long.
  Result<ThinkingPrompt> fitting_prompt();
  Result<void> write_more();
  /// More of the answer's sound; false where that was all.
  Result<bool> speak_next();
  Result<void> end_answer(RequestId id);

  TalkParts parts_;
  TalkLoop loop_;
  Conversation conversation_;
  Samples heard_;        // that the loop has not got
  Result<void> status_;  // of what must_stop() did
  Writing writing_;
};

}  // namespace tokamak::cli
