// WindowRows: what the first stage of a model that hears reads of the samples of a window.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "audio/log_mel.h"
#include "audio/sound.h"
#include "model/speech.h"

namespace tokamak {

class WindowRows {
 public:
  /// REQUIRES: the model outlives it.
  explicit WindowRows(const SpeechModel& model);

  /// The rows, [rows, columns], of samples that silence follows where there are too few.
  /// REQUIRES: no more samples than the model takes.
  std::vector<float> of(std::span<const float> sound) const;

 private:
  const SpeechModel& model_;
  std::optional<LogMel> mel_;  // of models that take its features
};

}  // namespace tokamak
