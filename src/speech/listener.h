// Listener: how a family of models goes through a recording. It takes what it can from the
// beginning of the sound that is left, and says how much that was.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "audio/sound.h"
#include "model/description.h"
#include "speech/speech_steps.h"
#include "text/tokenizer/tokenizer.h"
#include "tokamak/transcript.h"

namespace tokamak {

/// The parts that a listener works with. REQUIRES: all of it outlives the listener.
struct ListenerParts {
  Program& program;
  const SpeechModel& model;
  const ModelDescription& description;
  const Tokenizer* tokenizer;  // null: segments have ids and no text
  std::vector<uint32_t> end_ids;
  uint32_t vocab = 0;

  /// The text of ids; "" without a tokenizer.
  std::string text_of(std::span<const uint32_t> ids) const {
    return tokenizer == nullptr ? "" : tokenizer->decode(ids, true);
  }
};

struct Taken {
  size_t samples = 0;             // 0: more of the sound is needed first
  std::vector<Segment> segments;  // in seconds from the beginning of these samples
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// Begins a recording. Errors: options that the model does not have.
  virtual Result<void> begin(const TranscribeOptions& options) = 0;
  /// REQUIRES: a sound that is not empty. `is_end`: nothing follows it.
  virtual Result<Taken> take(std::span<const float> sound, bool is_end,
                             const std::function<bool()>& cancelled) = 0;
  /// The language, such as "en"; "": not known.
  virtual std::string language() const { return ""; }
};

Result<std::unique_ptr<Listener>> make_whisper_listener(const ListenerParts& parts);
Result<std::unique_ptr<Listener>> make_piece_listener(const ListenerParts& parts);

}  // namespace tokamak
