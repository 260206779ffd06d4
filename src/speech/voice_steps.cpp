#include "speech/voice_steps.h"

#include <algorithm>

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
  steps.context_ = uint32_t(plan.at(plan.named("pages")).tensor.shape[0]) * kPageTokens;
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
  const Plan& plan = program_->plan();
  const auto length = uint32_t(before + ids.size());
  std::vector<std::vector<float>> angles(layers_.size());
  while (!ids.empty()) {
    const auto count = uint32_t(std::min<size_t>(ids.size(), plan.chunk()));
    std::vector<InputWrite> inputs;
    for (size_t i = 0; i < layers_.size(); ++i) {
      const auto& [layer, buffer, width] = layers_[i];
      angles[i].resize(count * width);
      for (size_t row = 0; row < count; ++row) {
        model_->write_angles(layer, positions[row],
                             std::span(angles[i]).subspan(row * width, width));
      }
      inputs.push_back({.buffer = buffer, .bytes = std::as_bytes(std::span(angles[i]))});
    }
    StepRequest request{.phase = plan.phase_for(count),
                        .slots = {{.count = count, .position = before, .length = length}},
                        .tokens = ids.first(count),
                        .inputs = inputs,
                        .done = {}};
    if (count == ids.size()) {
      TOK_TRY(logits_, run_and_read(*program_, std::move(request)));
    } else {
      TOK_TRY(program_->submit(request));
    }
    ids = ids.subspan(count);
    positions = positions.subspan(count);
    before += count;
  }
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
