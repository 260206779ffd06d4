// PlayQueue: samples that wait for a loudspeaker, which takes them as time passes.
#pragma once
#include <cstdint>
#include <deque>
#include <span>

namespace tokamak {

class PlayQueue {
 public:
  /// `rate`: samples of a second.
  explicit PlayQueue(uint32_t rate) : rate_(rate) {}

  void add(std::span<const float> samples) {
    samples_.insert(samples_.end(), samples.begin(), samples.end());
  }
  /// Takes the next samples; silence where nothing waits.
  void take(std::span<float> out);
  /// Nothing more of what waits is heard: it fades within 5 ms, since a sound that breaks off
  /// clicks. What is added from here on comes after it and counts from zero.
  void stop();
  /// Samples taken of those that were added since the last stop().
  uint64_t played() const { return played_; }
  bool is_empty() const { return samples_.empty(); }
  /// Samples that wait.
  size_t size() const { return samples_.size(); }

 private:
  uint32_t rate_;
  std::deque<float> samples_;
  size_t fading_ = 0;  // of them, from before stop()
  uint64_t played_ = 0;
};

}  // namespace tokamak
