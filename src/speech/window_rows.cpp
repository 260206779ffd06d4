#include "speech/window_rows.h"

#include <algorithm>

#include "audio/frames.h"

namespace tokamak {

WindowRows::WindowRows(const SpeechModel& model) : model_(model) {
  if (model.input == SoundInput::kLogMel) mel_.emplace(model.bins);
}

std::vector<float> WindowRows::of(std::span<const float> sound) const {
  Samples samples(sound.begin(), sound.end());
  if (mel_) {
    samples.resize(model_.max_samples);
    return mel_->of(samples);
  }
  const bool has_frames = model_.input == SoundInput::kFrames;
  const size_t least = size_t{model_.min_rows()} * (has_frames ? kFrameSamples : 1);
  samples.resize(std::max(samples.size(), least));
  return has_frames ? levelled_frames(samples, model_.gain) : samples;
}

}  // namespace tokamak
