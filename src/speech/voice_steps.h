// VoiceSteps: one text on the program of a model that speaks, and the codes after it, token by
// token. After a loss of the device all of it runs once more.
#pragma once
#include <span>
#include <vector>

#include "backend/backend.h"
#include "model/voice.h"
#include "speech/device_losses.h"

namespace tokamak {

class VoiceSteps {
 public:
  /// Writes the page tables. Sessions on the program end. REQUIRES: both outlive it.
  static Result<VoiceSteps> start(Program& program, const VoiceModel& model);

  /// Begins a text. `speaker`: the row that VoiceModel::speaker_id() stands for; empty where no
  /// token is that.
  Result<void> begin(std::vector<float> speaker);

  /// The logits after the last of `ids`, which stand at those positions, valid until the next call.
  /// REQUIRES: ids, each with a position, no more than room().
  Result<std::span<const float>> feed(std::span<const uint32_t> ids,
                                      std::span<const float> positions);

  /// How many tokens can still follow.
  uint32_t room() const { return context_ - uint32_t(ids_.size()); }

 private:
  VoiceSteps(Program& program, const VoiceModel& model) : program_(&program), model_(&model) {}
  Result<void> outlive_device(const std::function<Result<void>()>& attempt);
  Result<void> write_speaker();
  /// Runs tokens that come after `before` others.
  Result<void> run(std::span<const uint32_t> ids, std::span<const float> positions,
                   uint32_t before);

  struct Layer {
    uint32_t index;
    BufferId angles;
    size_t width;  // of a row of them
  };

  Program* program_;
  const VoiceModel* model_;
  std::vector<Layer> layers_;
  uint32_t context_ = 0;
  std::vector<float> speaker_;
  std::vector<uint32_t> ids_;
  std::vector<float> positions_;
  std::vector<float> logits_;
  DeviceLosses losses_;
};

}  // namespace tokamak
