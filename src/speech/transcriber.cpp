#include "speech/transcriber.h"

#include <utility>

namespace tokamak {

Result<std::unique_ptr<Transcriber>> Transcriber::make(const ListenerParts& parts) {
  const bool has_windows = parts.model.input == SoundInput::kLogMel;
  TOK_TRY(auto listener, has_windows ? make_whisper_listener(parts) : make_piece_listener(parts));
  return std::unique_ptr<Transcriber>(new Transcriber(std::move(listener)));
}

Result<void> Transcriber::begin(const TranscribeOptions& options,
                                const TranscribeCallbacks& callbacks) {
  callbacks_ = callbacks;
  transcript_ = {};
  sound_.clear();
  done_ = passed_ = 0;
  return listener_->begin(options);
}

void Transcriber::put(Samples samples) {
  sound_.erase(sound_.begin(), sound_.begin() + ptrdiff_t(done_));
  passed_ += std::exchange(done_, 0);
  if (sound_.empty()) {
    sound_ = std::move(samples);
  } else {
    sound_.insert(sound_.end(), samples.begin(), samples.end());
  }
}

Result<void> Transcriber::add(std::span<const float> samples) {
  return add(Samples(samples.begin(), samples.end()));
}

Result<void> Transcriber::add(Samples&& samples) {
  put(std::move(samples));
  for (;;) {
    TOK_TRY(const bool continues, step());
    if (!continues) return {};
  }
}

Result<bool> Transcriber::take_one(bool is_end) {
  const std::span<const float> left = std::span(sound_).subspan(done_);
  if (left.empty()) return false;
  TOK_TRY(Taken taken, listener_->take(left, is_end, callbacks_.cancelled));
  for (Segment& segment : taken.segments) {
    segment.start += seconds_of(passed_ + done_);
    segment.end += seconds_of(passed_ + done_);
    if (callbacks_.segment) callbacks_.segment(segment);
    transcript_.text += segment.text;
    transcript_.segments.push_back(std::move(segment));
  }
  done_ += taken.samples;
  return taken.samples > 0;
}

Result<Transcript> Transcriber::finish() {
  for (;;) {
    TOK_TRY(const bool continues, take_one(true));
    if (!continues) break;
  }
  transcript_.seconds = seconds_of(passed_ + sound_.size());
  transcript_.language = listener_->language();
  transcript_.text.erase(0, transcript_.text.find_first_not_of(' '));
  return std::move(transcript_);
}

}  // namespace tokamak
