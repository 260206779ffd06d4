// Admission: how many requests may wait, and when one that may not should come again.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace tokamak::serve {

class Admission {
 public:
  Admission(uint32_t at_once, uint32_t most_waiting)
      : at_once_(std::max(at_once, 1u)), most_waiting_(most_waiting) {}

  /// Seconds after which there will be room, where there is none now.
  std::optional<uint32_t> wait_seconds() const {
    const uint32_t waiting = under_way_ - std::min(under_way_, at_once_);
    if (under_way_ < at_once_ || waiting < most_waiting_) return std::nullopt;
    // One of those that run ends every mean / at_once seconds; the whole queue is not waited for,
    // as others who ask again take the same places.
    const double seconds = mean_seconds_ * double(waiting + 1) / double(at_once_) / 2;
    return uint32_t(std::clamp(std::ceil(seconds), 1.0, kMaxSeconds));
  }
  void begin() { ++under_way_; }
  void end(double seconds) {
    --under_way_;
    mean_seconds_ += kWeight * (seconds - mean_seconds_);
  }
  uint32_t under_way() const { return under_way_; }

 private:
  static constexpr double kWeight = 0.1, kMaxSeconds = 120;

  uint32_t at_once_, most_waiting_;
  uint32_t under_way_ = 0;
  double mean_seconds_ = 1;  // that a request takes, of the last ones
};

}  // namespace tokamak::serve
