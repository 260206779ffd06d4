#include "talk/voice_detector.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tokamak {
namespace {

// In dB of full scale, and above the floor.
constexpr double kQuietest = -60, kBegin = 15, kEnd = 9;
// A floor is the minimum over kSpans spans of kSpanFrames frames.
constexpr size_t kSpans = 8, kSpanFrames = 20;

double level_of(std::span<const float> frame) {
  double sum = 0;
  for (const float one : frame) sum += double(one) * one;
  return 10 * std::log10(sum / double(frame.size()) + 1e-10);
}

}  // namespace

double VoiceDetector::floor() const {
  // Until there have been as many spans, a quiet room is assumed: somebody may speak at once.
  if (minima_.size() < kSpans) return kQuietest;
  return std::max(std::ranges::min(minima_), kQuietest);
}

bool VoiceDetector::add(std::span<const float> frame) {
  TOK_CHECK(frame.size() == kFrame);
  const double level = level_of(frame);
  if (minima_.empty() || frames_ == kSpanFrames) {
    minima_.push_back(level);
    frames_ = 0;
    if (minima_.size() > kSpans) minima_.pop_front();
  }
  minima_.back() = std::min(minima_.back(), level);
  ++frames_;
  is_voice_ = level >= floor() + (is_voice_ ? kEnd : kBegin);
  return is_voice_;
}

}  // namespace tokamak
