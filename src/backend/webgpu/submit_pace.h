// How much of a step goes into one submission. Drivers reset a device on which one takes longer
// than some two seconds, and a desktop stands still meanwhile.
#pragma once
#include <cstddef>
#include <span>

#include "plan/plan.h"

namespace tokamak {

/// The speed of a device, as far as the length of submissions depends on it: dispatches are
/// expected to take what their bytes and operations take a slow device, until submissions have been
/// measured.
class SubmitPace {
 public:
  /// `seconds`: of the longest submission of more than one dispatch; 0: no limit.
  explicit SubmitPace(double seconds) : seconds_(seconds) {}

  bool has_limit() const { return seconds_ > 0; }
  /// Seconds of the slow device.
  static double nominal(const Cost& cost);
  /// Whether a step of that many seconds of the slow device is divided and measured.
  bool is_long(double nominal) const { return seconds_ > 0 && nominal * scale_ > seconds_; }
  /// Seconds of the slow device that a submission may have.
  double limit() const { return seconds_ / scale_; }
  /// Learns from a submission: slower at once, faster by halves.
  void measured(double nominal, double seconds);

 private:
  double seconds_;
  double scale_ = 1;  // seconds of this device for one of the slow device
};

/// The rest of a submission: dispatches, and seconds of the slow device.
struct SubmitRoom {
  size_t dispatches;
  double seconds;
  bool is_untouched = true;  // one dispatch has room, however long it takes

  /// Takes as many of the next `count` dispatches as there is room for, and gives their number.
  /// `nominal` are their seconds; empty: no matter.
  size_t take(size_t count, std::span<const double> nominal);
};

}  // namespace tokamak
