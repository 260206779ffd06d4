// Narrator: texts to sound, piece by piece, for those who take the samples as they come.
//
//   TOK_TRY(narrator.begin(options));
//   narrator.add(text);
//   narrator.end_text();
//   for (;;) {
//     TOK_TRY(const auto samples, narrator.next());
//     if (!samples) break;
//     play(*samples);
//   }
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "speech/frame_writer.h"
#include "speech/sentences.h"
#include "speech/sound_chunks.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {

/// The parts that a narrator works with. REQUIRES: all of it outlives the narrator.
struct NarratorParts {
  Program& program;
  const VoiceModel& model;
  const Tokenizer& tokenizer;
  SoundOfCodes codec;
};

struct NarrationOptions {
  std::vector<float> speaker;  // the numbers that describe them; empty: the model's own voice
  std::string language;        // a tag that the model knows, put before each piece; "": none
  FrameOptions frames;         // of each piece
};

struct Narration {
  uint32_t pieces = 0;
  uint32_t cut = 0;     // of these, those whose sound had no room to end
  uint64_t frames = 0;  // of all
};

class Narrator {
 public:
  /// Errors: a codec that is not the model's.
  static Result<std::unique_ptr<Narrator>> make(NarratorParts parts);

  /// Begins a narration; one that has not ended is forgotten. Errors: a speaker that the model does
  /// not take, sampling out of range.
  Result<void> begin(const NarrationOptions& options);
  /// Adds the next part of the text, in whole characters.
  void add(std::string_view text) { pieces_.add(text); }
  void end_text() { is_end_ = true; }

  /// The samples that follow, at rate() and mostly from -1 to 1; none at the end. They are empty
  /// where more of the text must be known first. Errors: a text that has nothing to say, or too
  /// much at once; kCancelled.
  Result<std::optional<std::vector<float>>> next(const std::function<bool()>& cancelled = {});

  /// Whether the program holds the piece in flight: between two pieces others may use it.
  bool is_in_piece() const { return is_in_piece_; }

  uint32_t rate() const { return chunks_.codec().rate; }
  const SoundOfCodes& codec() const { return chunks_.codec(); }
  /// The piece of the text that the last samples were of; narration().pieces is its number.
  const std::string& piece() const { return piece_; }
  /// The narration so far.
  const Narration& narration() const { return narration_; }

 private:
  Narrator(const NarratorParts& parts, FrameWriter writer)
      : model_(parts.model),
        tokenizer_(parts.tokenizer),
        writer_(std::move(writer)),
        chunks_(parts.codec) {}
  Result<void> begin_piece(std::string piece);

  const VoiceModel& model_;
  const Tokenizer& tokenizer_;
  FrameWriter writer_;
  SoundChunks chunks_;
  NarrationOptions options_;
  std::vector<float> speaker_row_;
  SentencePieces pieces_;
  std::string piece_;
  Narration narration_;
  bool is_end_ = false, is_in_piece_ = false;
};

}  // namespace tokamak
