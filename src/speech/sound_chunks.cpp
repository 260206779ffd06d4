#include "speech/sound_chunks.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tokamak {
namespace {

/// Frames; of 80 ms, they are 0.4 s at first and 2 s in the end.
constexpr uint32_t kFirstChunk = 5, kMaxChunk = 25;
constexpr double kPauseSeconds = 0.1;
constexpr float kSilence = 0.00316f;  // -50 dB

}  // namespace

void SoundChunks::begin() {
  chunk_ = kFirstChunk;
  has_sound_ = false;
  begin_piece();
}

void SoundChunks::begin_piece() {
  codes_.clear();
  decoded_ = 0;
  is_silent_ = true;
}

Result<std::vector<float>> SoundChunks::add(std::span<const uint32_t> frame) {
  TOK_CHECK(frame.size() == codec_.groups);
  codes_.insert(codes_.end(), frame.begin(), frame.end());
  if (pending() < chunk_) return std::vector<float>();
  chunk_ = std::min(2 * chunk_, kMaxChunk);
  return decode();
}

Result<std::vector<float>> SoundChunks::end_piece() {
  if (pending() == 0) return std::vector<float>();
  return decode();
}

Result<std::vector<float>> SoundChunks::decode() {
  const uint32_t context = std::min(decoded_, codec_.context_frames);
  const size_t first = size_t{decoded_ - context} * codec_.groups;
  TOK_TRY(std::vector<float> samples, codec_.decode(std::span(codes_).subspan(first), context));
  decoded_ += pending();
  if (!is_silent_) return samples;
  const auto sound =
      std::ranges::find_if(samples, [](float sample) { return std::abs(sample) >= kSilence; });
  samples.erase(samples.begin(), sound);
  if (samples.empty()) return samples;
  is_silent_ = false;
  if (std::exchange(has_sound_, true)) {
    samples.insert(samples.begin(), size_t(kPauseSeconds * codec_.rate), 0.0f);
  }
  return samples;
}

}  // namespace tokamak
