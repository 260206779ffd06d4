#include "talk/endpointer.h"

#include <algorithm>
#include <utility>

namespace tokamak {
namespace {

constexpr size_t kFrame = VoiceDetector::kFrame;
constexpr size_t kBefore = 15;  // frames that stay before a voice begins
constexpr size_t kAfter = 10;   // and after its end

size_t frames_of(double seconds) {
  return size_t(seconds * kSampleRate / kFrame + 0.5);
}

}  // namespace

void Endpointer::add(std::span<const float> sound) {
  rest_.insert(rest_.end(), sound.begin(), sound.end());
  size_t done = 0;
  for (; done + kFrame <= rest_.size(); done += kFrame) {
    add_frame(std::span(rest_).subspan(done, kFrame));
  }
  rest_.erase(rest_.begin(), rest_.begin() + ptrdiff_t(done));
}

void Endpointer::add_frame(std::span<const float> frame) {
  heard_.insert(heard_.end(), frame.begin(), frame.end());
  if (detector_.add(frame)) {
    ++voiced_;
    quiet_ = 0;
  } else {
    ++quiet_;
    // A sound that was no voice after all wears off as it came.
    if (!is_in_utterance_ && voiced_ > 0) --voiced_;
  }
  if (!is_in_utterance_) {
    is_in_utterance_ = voiced_ >= frames_of(options_.begin_seconds);
    const size_t most = (kBefore + voiced_) * kFrame;
    if (heard_.size() > most) heard_.erase(heard_.begin(), heard_.end() - ptrdiff_t(most));
    return;
  }
  if (quiet_ >= frames_of(options_.pause_seconds) ||
      heard_.size() >= frames_of(options_.max_seconds) * kFrame) {
    end_utterance();
  }
}

void Endpointer::end_utterance() {
  if (quiet_ > kAfter) heard_.resize(heard_.size() - (quiet_ - kAfter) * kFrame);
  own_ = std::exchange(heard_, {});
  voiced_ = quiet_ = 0;
  is_in_utterance_ = false;
}

std::optional<Samples> Endpointer::take() {
  return std::exchange(own_, std::nullopt);
}

double Endpointer::voiced_seconds() const {
  return seconds_of(voiced_ * kFrame);
}

void Endpointer::forget() {
  rest_.clear();
  heard_.clear();
  own_.reset();
  voiced_ = quiet_ = 0;
  is_in_utterance_ = false;
}

}  // namespace tokamak
