#include "speech/voice_steps.h"

#include "backend/one_sequence.h"
#include "base/bits.h"
#include "base/check.h"
#include "model/model_builder.h"

namespace tokamak {

Result<VoiceSteps> VoiceSteps::start(Program& program, const VoiceModel& model) {
  VoiceSteps steps(program, model);
  const Plan& plan = program.plan();
  for (const auto& [layer, frequencies] : model.frequencies) {
    steps.layers_.push_back({layer, plan.named(voice_angles(layer)), 2 * frequencies.size()});
  }
  steps.context_ = positions_of_pages(plan);
  program.begin_sequence();
  TOK_TRY(steps.outlive_device([&] { return write_all_pages(program); }));
  return steps;
}

Result<void> VoiceSteps::outlive_device(const std::function<Result<void>()>& attempt) {
  const auto bring_back = [&]() -> Result<void> {
    TOK_TRY(write_all_pages(*program_));
    TOK_TRY(write_speaker());
    return ids_.empty() ? Result<void>() : run(ids_, positions_, 0);
  };
  return losses_.outlive(*program_, bring_back, attempt);
}

Result<void> VoiceSteps::write_speaker() {
  if (speaker_.empty()) return {};
  return program_->write_table(program_->plan().named(kImageRows), words_of(speaker_));
}

Result<void> VoiceSteps::begin(std::vector<float> speaker) {
  speaker_ = std::move(speaker);
  ids_.clear();
  positions_.clear();
  return outlive_device([&] { return write_speaker(); });
}

Result<void> VoiceSteps::run(std::span<const uint32_t> ids, std::span<const float> positions,
                             uint32_t before) {
  std::vector<std::vector<float>> angles(layers_.size());
  std::vector<InputWrite> writes;
  const auto inputs = [&](uint32_t first, uint32_t count) {
    writes.clear();
    for (size_t i = 0; i < layers_.size(); ++i) {
      const auto& [layer, buffer, width] = layers_[i];
      angles[i].resize(count * width);
      for (size_t row = 0; row < count; ++row) {
        model_->write_angles(layer, positions[first + row],
                             std::span(angles[i]).subspan(row * width, width));
      }
      writes.push_back({.buffer = buffer, .bytes = std::as_bytes(std::span(angles[i]))});
    }
    return std::span<const InputWrite>(writes);
  };
  TOK_TRY(logits_, run_tokens(*program_, ids, before, inputs));
  return {};
}

Result<std::span<const float>> VoiceSteps::feed(std::span<const uint32_t> ids,
                                                std::span<const float> positions) {
  TOK_CHECK(!ids.empty() && ids.size() == positions.size() && ids.size() <= room());
  TOK_TRY(outlive_device([&] { return run(ids, positions, uint32_t(ids_.size())); }));
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  positions_.insert(positions_.end(), positions.begin(), positions.end());
  return logits_;
}

}  // namespace tokamak
