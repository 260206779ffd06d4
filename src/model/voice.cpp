#include "model/voice.h"

#include <cmath>

#include "base/check.h"

namespace tokamak {

std::string voice_angles(uint32_t layer) {
  return fmt::format("angles.{}", layer);
}

void VoiceModel::write_angles(uint32_t layer, float position, std::span<float> out) const {
  const std::vector<float>& own = frequencies.at(layer);
  TOK_CHECK(out.size() == 2 * own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    // In f32 as the reference turns: far positions would differ otherwise.
    const float angle = position * own[i];
    out[i] = std::cos(angle);
    out[own.size() + i] = std::sin(angle);
  }
}

Result<std::vector<float>> VoiceModel::speaker_row(std::span<const float> speaker) const {
  if (speaker_size == 0) {
    return fail(ErrorCode::kUsage, "The model has one voice and takes no other speaker's.");
  }
  if (speaker.size() != speaker_size) {
    return invalid_input("The voice has {} numbers, but the model takes {}.", speaker.size(),
                         speaker_size);
  }
  for (const float number : speaker) {
    if (!std::isfinite(number)) return invalid_input("The voice has a number that is not finite.");
  }
  std::vector<float> row(speakers.size() / speaker_size);
  for (size_t i = 0; i < row.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < speaker.size(); ++j) {
      sum += double(speakers[i * speaker_size + j]) * double(speaker[j]);
    }
    row[i] = float(sum);
  }
  return row;
}

float FramePositions::next(uint32_t id) {
  const double position = texts_ + (codes_ / model_->groups) * model_->step;
  ++(model_->is_code(id) ? codes_ : texts_);
  return float(position);
}

}  // namespace tokamak
