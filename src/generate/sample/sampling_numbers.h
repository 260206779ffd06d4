// The numbers of SamplingParams as rows: their names, and what they may be. Sampling, the flags of
// programs and the settings of a chat go by them.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "generate/sample/sampler.h"

namespace tokamak {

struct SamplingNumber {
  std::string_view name;   // "top_p"
  std::string_view title;  // in sentences: "The temperature"
  double SamplingParams::* member;
  double least, most;
  bool is_above_least = false;  // it may not be the least itself

  /// False for what is no number, too.
  bool takes(double value) const {
    return (is_above_least ? value > least : value >= least) && value <= most;
  }
  /// "from 0 to 1", "above 0 and at most 1".
  std::string range() const;
};

/// The order is that of the rules; the last two look at what was generated.
std::span<const SamplingNumber> sampling_numbers();

/// REQUIRES: one of the rows has that member.
const SamplingNumber& sampling_number(double SamplingParams::* member);

}  // namespace tokamak
