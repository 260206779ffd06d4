// The state that a Stream and the thread that runs its request share.
#pragma once
#include "api/mailbox.h"
#include "protocol/output/answer_reader.h"
#include "tokamak/tokamak.h"

namespace tokamak {

struct StreamState : Mailbox {
  // The piece of a step until publish(); for the thread that runs the engine.
  TextPiece staged;
  std::optional<protocol::AnswerReader> reader;  // where reasoning comes apart
  std::optional<Result<Generation>> staged_end;

  // The part that the stream may take, under the mutex.
  std::optional<TextPiece> piece;
  std::optional<Result<Generation>> end;

  /// Gives the stream what is staged, a whole step at once: tokens never come without their text.
  void publish();
};

}  // namespace tokamak
