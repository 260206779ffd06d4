#include "speech/transcriber.h"

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
  left_.clear();
  passed_ = 0;
  return listener_->begin(options);
}

Result<void> Transcriber::add(std::span<const float> samples) {
  left_.insert(left_.end(), samples.begin(), samples.end());
  return advance(false);
}

Result<void> Transcriber::add(Samples&& samples) {
  if (!left_.empty()) return add(std::span<const float>(samples));
  left_ = std::move(samples);
  return advance(false);
}

Result<void> Transcriber::advance(bool is_end) {
  size_t done = 0;
  while (done < left_.size()) {
    TOK_TRY(Taken taken,
            listener_->take(std::span(left_).subspan(done), is_end, callbacks_.cancelled));
    if (taken.samples == 0) break;
    for (Segment& segment : taken.segments) {
      segment.start += seconds_of(passed_ + done);
      segment.end += seconds_of(passed_ + done);
      if (callbacks_.segment) callbacks_.segment(segment);
      transcript_.text += segment.text;
      transcript_.segments.push_back(std::move(segment));
    }
    done += taken.samples;
  }
  left_.erase(left_.begin(), left_.begin() + ptrdiff_t(done));
  passed_ += done;
  return {};
}

Result<Transcript> Transcriber::finish() {
  transcript_.seconds = seconds_of(passed_ + left_.size());
  TOK_TRY(advance(true));
  transcript_.language = listener_->language();
  transcript_.text.erase(0, transcript_.text.find_first_not_of(' '));
  return std::move(transcript_);
}

}  // namespace tokamak
