// Fixed-point sums: what workgroups add up together, in any order, to the same numbers.
//
// WGSL adds to shared memory in whole numbers only. A sum is two of them, high and low, in steps of
// kHigh and kLow: a row of n sums is i32[2 n], all highs and then all lows. Addends become
// multiples of kLow. As many as kMaxAddends fit without a wrap, each below kMaxAddend; one
// that is larger, or no number, makes the sum no number, and so does a sum of kMaxHigh steps.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace tokamak {

struct FixedPointSum {
  static constexpr double kHigh = 0x1p-6, kLow = 0x1p-30;
  static constexpr double kMaxAddend = 0x1p17;
  static constexpr int32_t kMaxHigh = 1 << 30;
  static constexpr uint32_t kMaxAddends = 255;

  int32_t high = 0, low = 0;

  void add(double value) {
    if (!(std::abs(value) < kMaxAddend)) {
      high = std::numeric_limits<int32_t>::max();
      return;
    }
    const double part = std::round(value / kHigh);
    // A high that says no number may wrap.
    high = int32_t(uint32_t(high) + uint32_t(int32_t(part)));
    low += int32_t(std::round((value - part * kHigh) / kLow));
  }
  double value() const {
    if (high >= kMaxHigh || high <= -kMaxHigh) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    return high * kHigh + low * kLow;
  }
};

}  // namespace tokamak
