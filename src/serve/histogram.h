// Histogram: how often a value fell below each of some bounds, as Prometheus counts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::serve {

class Histogram {
 public:
  /// `bounds` rise, and outlive it.
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  void add(double value) {
    ++counts_[size_t(std::ranges::lower_bound(bounds_, value) - bounds_.begin())];
    ++count_;
    sum_ += value;
  }

  /// The lines of one series; `labels` as `name="value"`, "" for none.
  std::string text(std::string_view name, std::string_view labels) const;

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> counts_;  // up to each bound, above the one before; the last: above all
  uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace tokamak::serve
