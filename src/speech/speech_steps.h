// SpeechSteps: one window of a sound on a program, and texts about it, token by token. After a loss
// of the device what was heard and fed runs once more.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/one_sequence.h"
#include "model/speech.h"
#include "speech/device_losses.h"

namespace tokamak {

class SpeechSteps {
 public:
  /// Writes the page tables. Sessions on the program end. REQUIRES: both outlive it; the plan has a
  /// phase of PhaseKind::kSound for each of the model's stages, in their order.
  static Result<SpeechSteps> start(Program& program, const SpeechModel& model);

  /// Runs the encoder over what the first stage reads, [rows, columns], and begins a text about it.
  /// `encoded` receives the encoder's rows where it is not null.
  /// REQUIRES: as many rows as give one of the encoder, and no more than the model takes.
  Result<void> hear(std::vector<float> rows, std::vector<float>* encoded = nullptr);
  /// Begins another text about what was heard last.
  void restart() { ids_.clear(); }

  /// The logits after the last of `ids`, valid until the next call; after a lost device `meanwhile`
  /// runs again. REQUIRES: ids; they are below the vocabulary's size and no more than room().
  Result<std::span<const float>> feed(std::span<const uint32_t> ids,
                                      const Meanwhile& meanwhile = {});

  /// How many tokens the text can still take.
  uint32_t room() const { return context_ - uint32_t(ids_.size()); }
  /// Rows of the encoder that the text attends to.
  uint32_t frames() const { return frames_; }

 private:
  SpeechSteps(Program& program, const SpeechModel& model) : program_(&program), model_(&model) {}
  Result<void> outlive_device(const std::function<Result<void>()>& attempt);
  /// The inputs of a stage's rows: up to where they see, in windows.
  struct Ends {
    std::deque<std::vector<uint32_t>> values;  // which the writes refer to
    std::vector<InputWrite> writes;
  };
  Ends ends_of_windows(size_t stage, uint32_t rows) const;
  Result<void> run_stages(std::vector<float>* encoded);
  Result<void> run_text(std::span<const uint32_t> ids, uint32_t position,
                        const Meanwhile& meanwhile = {});

  Program* program_;
  const SpeechModel* model_;
  std::vector<size_t> stages_;  // their phases
  BufferId ends_ = {};
  uint32_t context_ = 0;
  std::vector<float> heard_;
  uint32_t frames_ = 0;
  std::vector<uint32_t> ids_;  // of the text
  std::vector<float> logits_;
  DeviceLosses losses_;
};

}  // namespace tokamak
