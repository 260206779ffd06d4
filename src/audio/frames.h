// Frames of equal loudness, as Moonshine's streaming models take sound: 80 samples (5 ms) each,
// from which the mean is taken, divided by their root mean square, then asinh(gain x).
#pragma once
#include <span>
#include <vector>

#include "audio/sound.h"

namespace tokamak {

inline constexpr uint32_t kFrameSamples = 80;

/// [frames, kFrameSamples]. A last frame that is not whole is all zeros, as the reference has it.
std::vector<float> levelled_frames(std::span<const float> samples, float gain);

}  // namespace tokamak
