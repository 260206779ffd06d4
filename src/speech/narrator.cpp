#include "speech/narrator.h"

#include "generate/steps/call_errors.h"

namespace tokamak {

Result<std::unique_ptr<Narrator>> Narrator::make(NarratorParts parts) {
  if (parts.codec.groups != parts.model.groups || parts.codec.codes != parts.model.codes) {
    return invalid_input(
        "The model speaks frames of {} codes out of {}, but the codec has {} out of {}; it is "
        "another model's.",
        parts.model.groups, parts.model.codes, parts.codec.groups, parts.codec.codes);
  }
  TOK_TRY(FrameWriter writer, FrameWriter::make(parts.program, parts.model));
  return std::unique_ptr<Narrator>(new Narrator(parts, std::move(writer)));
}

Result<void> Narrator::begin(const NarrationOptions& options) {
  options_ = options;
  speaker_row_.clear();
  if (!options.speaker.empty()) {
    TOK_TRY(speaker_row_, model_.speaker_row(options.speaker));
  }
  TOK_TRY(options.frames.sampling.validate());
  pieces_ = SentencePieces();
  narration_ = {};
  is_end_ = is_in_piece_ = false;
  chunks_.begin();
  return {};
}

Result<void> Narrator::begin_piece(std::string piece) {
  const std::string text = options_.language.empty() ? piece : options_.language + ": " + piece;
  piece_ = std::move(piece);
  TOK_TRY(const std::vector<uint32_t> ids,
          tokenizer_.encode(text, {.add_special = false, .parse_special = false}));
  TOK_TRY(writer_.begin(ids, speaker_row_, options_.frames));
  chunks_.begin_piece();
  ++narration_.pieces;
  is_in_piece_ = true;
  return {};
}

Result<std::optional<std::vector<float>>> Narrator::next(const std::function<bool()>& cancelled) {
  for (;;) {
    if (cancelled && cancelled()) return call_was_cancelled();
    if (!is_in_piece_) {
      std::optional<std::string> piece = pieces_.next(is_end_);
      if (piece) {
        TOK_TRY(begin_piece(*std::move(piece)));
      } else if (!is_end_) {
        return std::vector<float>();
      } else if (narration_.pieces == 0) {
        return invalid_input("The text has nothing to say: no letter and no digit.");
      } else {
        return std::nullopt;
      }
    }
    TOK_TRY(const auto frame, writer_.next());
    std::vector<float> samples;
    if (frame) {
      ++narration_.frames;
      TOK_TRY(samples, chunks_.add(*frame));
    } else {
      TOK_TRY(samples, chunks_.end_piece());
      narration_.cut += writer_.is_cut() ? 1 : 0;
      is_in_piece_ = false;
    }
    if (!samples.empty()) return samples;
  }
}

}  // namespace tokamak
