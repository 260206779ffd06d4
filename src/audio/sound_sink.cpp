#include "audio/sound_sink.h"

#include <utility>

#include "base/check.h"

namespace tokamak {

Result<void> SoundSink::begin(const SoundFormat& format) {
  const bool is_same =
      resampler_ && format.rate == format_.rate && format.channels == format_.channels;
  if (is_same) return {};
  constexpr uint32_t kMaxChanges = 1000;  // each takes time, however short the sound between two is
  if (++changes_ > kMaxChanges) {
    return invalid_input("The sound changes its rate or channels more than {} times.", kMaxChanges);
  }
  TOK_TRY(end_piece());
  TOK_TRY(resampler_, Resampler::open(format));
  format_ = format;
  return {};
}

Result<void> SoundSink::begin_piece() {
  constexpr uint32_t kMaxPieces = 10'000;
  if (++pieces_ > kMaxPieces) {
    return invalid_input("The sound has more than {} pieces.", kMaxPieces);
  }
  return {};
}

Result<void> SoundSink::add(std::span<const float> frames) {
  TOK_CHECK(resampler_.has_value());
  const uint64_t count = frames.size() / format_.channels;
  piece_frames_ += count;
  frames_ += count;
  if (double(piece_frames_) > (double(limits_.max_seconds) - seconds_) * format_.rate) {
    return invalid_input("The sound is longer than {} seconds; cut it into parts first.",
                         limits_.max_seconds);
  }
  return resampler_->add(frames, samples_);
}

void SoundSink::note_missing(std::string text) {
  if (missing_.empty()) missing_ = std::move(text);
}

Result<void> SoundSink::end_piece() {
  if (!resampler_) return {};
  seconds_ += double(std::exchange(piece_frames_, 0)) / format_.rate;
  return resampler_->finish(samples_);
}

Result<Samples> SoundSink::finish() {
  if (frames_ == 0) {
    if (!missing_.empty()) return invalid_input("{}", missing_);
    return invalid_input("The sound has no samples.");
  }
  TOK_TRY(end_piece());
  resampler_.reset();
  return std::move(samples_);
}

}  // namespace tokamak
