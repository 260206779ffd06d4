#include "apps/cli/chat/chat_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "apps/cli/command.h"
#include "base/nearest.h"

namespace tokamak::cli {
namespace {

using Params = GenerationParams;
using Entry = ChatSettings::Entry;

/// Whole numbers up to here are all different as doubles.
constexpr double kMaxSeed = 9007199254740992;

template <double SamplingParams::* kMember>
constexpr Entry number(std::string_view name) {
  return {name, false, [](const Params& params) { return params.sampling.*kMember; },
          [](Params& params, double value) { params.sampling.*kMember = value; }};
}

constexpr Entry kEntries[] = {
    number<&SamplingParams::temperature>("temperature"),
    {"top-k", true, [](const Params& params) { return double(params.sampling.top_k); },
     [](Params& params, double value) { params.sampling.top_k = uint32_t(value); }},
    number<&SamplingParams::top_p>("top-p"),
    number<&SamplingParams::min_p>("min-p"),
    number<&SamplingParams::typical_p>("typical-p"),
    number<&SamplingParams::repetition_penalty>("repetition-penalty"),
    number<&SamplingParams::presence_penalty>("presence-penalty"),
    number<&SamplingParams::frequency_penalty>("frequency-penalty"),
    {"seed", true, [](const Params& params) { return double(params.sampling.seed.value_or(0)); },
     [](Params& params, double value) { params.sampling.seed = uint64_t(value); }},
    {"max-tokens", true,
     [](const Params& params) {
       return params.max_tokens == kAllTokens ? -1.0 : double(params.max_tokens);
     },
     [](Params& params, double value) {
       params.max_tokens = value < 0 ? kAllTokens : uint32_t(value);
     }},
};

std::vector<std::string_view> names() {
  std::vector<std::string_view> out;
  for (const Entry& entry : kEntries) out.push_back(entry.name);
  return out;
}

}  // namespace

Result<void> ChatSettings::set(std::string_view name, std::string_view value,
                               const GenerationParams& params) {
  const auto* entry = std::ranges::find(kEntries, name, &Entry::name);
  if (entry == std::end(kEntries)) {
    return invalid_input("There is no setting {}{}; /set lists them.", name,
                         did_you_mean(name, names()));
  }
  double number = 0;
  const char* end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  const double least = name == "max-tokens" ? -1 : 0;
  const double most = name == "seed" ? kMaxSeed : INT32_MAX;
  const bool fits =
      !entry->is_whole || (number == std::floor(number) && number >= least && number <= most);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number) || !fits) {
    return invalid_input("{} is \"{}\", expected a {}number{}.", name, value,
                         entry->is_whole ? "whole " : "",
                         entry->is_whole ? fmt::format(" from {:.0f} to {:.0f}", least, most) : "");
  }
  GenerationParams changed = params;
  entry->put(changed, number);
  TOK_TRY(Sampler::make(changed.sampling));
  std::erase_if(values_, [&](const auto& one) { return one.first == entry; });
  values_.emplace_back(entry, number);
  return {};
}

void ChatSettings::apply(GenerationParams& params) const {
  for (const auto& [entry, value] : values_) entry->put(params, value);
}

std::string ChatSettings::table(const GenerationParams& params) const {
  GenerationParams own = params;
  apply(own);
  std::string out;
  for (const Entry& entry : kEntries) {
    const auto is_own = [&](const auto& one) { return one.first == &entry; };
    const bool is_new = entry.name == "seed" && std::ranges::none_of(values_, is_own);
    const std::string value = is_new ? "as at the start" : fmt::format("{}", entry.get(own));
    out += fmt::format("{:<20}{}\n", entry.name, value);
  }
  return out;
}

}  // namespace tokamak::cli
