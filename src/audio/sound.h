// Sound as models take it: one channel of samples at 16 kHz, around -1 to 1; and how much of it a
// file may hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tokamak {

inline constexpr uint32_t kSampleRate = 16000;

/// Samples of one channel at kSampleRate.
using Samples = std::vector<float>;

inline double seconds_of(size_t samples) {
  return double(samples) / kSampleRate;
}

/// The limits of a file. Its bytes are counted before anything of it is decoded, and its seconds
/// while it is: lengths in headers may be wrong.
struct SoundLimits {
  uint64_t max_file_bytes = uint64_t{2} << 30;
  uint32_t max_seconds = 2 * 3600;
};

/// The format of a recording: its samples for a second and its channels.
struct SoundFormat {
  uint32_t rate = kSampleRate;
  uint32_t channels = 1;
};
Result<void> check_format(const SoundFormat& format);

/// An error for samples that are no numbers, or far from -1 to 1. `first`: how many came before.
Result<void> check_samples(std::span<const float> samples, uint64_t first);

}  // namespace tokamak
