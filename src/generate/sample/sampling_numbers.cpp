#include "generate/sample/sampling_numbers.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {
namespace {

constexpr SamplingNumber kNumbers[] = {
    {"temperature", "The temperature", &SamplingParams::temperature, 0, 1e6},
    {"top_p", "top_p", &SamplingParams::top_p, 0, 1, true},
    {"min_p", "min_p", &SamplingParams::min_p, 0, 1},
    {"typical_p", "typical_p", &SamplingParams::typical_p, 0, 1, true},
    {"repetition_penalty", "The repetition penalty", &SamplingParams::repetition_penalty, 0.01,
     100},
    {"presence_penalty", "The presence penalty", &SamplingParams::presence_penalty, -2, 2},
    {"frequency_penalty", "The frequency penalty", &SamplingParams::frequency_penalty, -2, 2},
};

}  // namespace

std::string SamplingNumber::range() const {
  if (is_above_least) return fmt::format("above {} and at most {}", least, most);
  return fmt::format("from {} to {}", least, most);
}

std::span<const SamplingNumber> sampling_numbers() {
  return kNumbers;
}

const SamplingNumber& sampling_number(double SamplingParams::* member) {
  const auto* row = std::ranges::find(kNumbers, member, &SamplingNumber::member);
  TOK_CHECK(row != std::end(kNumbers));
  return *row;
}

}  // namespace tokamak
