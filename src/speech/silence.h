// The places where a recording can be cut: at pauses, by how loud it is.
#pragma once
#include <span>

#include "audio/sound.h"

namespace tokamak {

struct Piece {
  size_t begin = 0, end = 0;  // of the samples that are heard; equal: there are none
  size_t taken = 0;           // samples that are done with; 0: more of the sound is needed first
};

/// Finds pieces in what is left of a recording, one after another. A piece ends in a pause of 300
/// ms that is 40 dB below the loudest of all so far, or at its quietest place where there is no
/// pause.
class PieceFinder {
 public:
  explicit PieceFinder(size_t max_samples) : max_samples_(max_samples) {}

  /// The first piece. `is_end`: nothing follows the sound. REQUIRES: a sound that is not empty.
  Piece next(std::span<const float> sound, bool is_end);

 private:
  size_t max_samples_;
  double loudest_ = 0;  // the mean square of a frame
};

}  // namespace tokamak
