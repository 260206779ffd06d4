#include "model/arch/nanocodec_config.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tokamak {
namespace {

// The limits that no published codec comes near; products of these stay below 2^32.
constexpr uint32_t kMaxGroups = 256, kMaxChannels = 8192, kMaxSamples = 16384, kMaxCodes = 1 << 24;
constexpr uint32_t kMaxTaps = 31, kMaxDilation = 32;
constexpr size_t kMaxList = 16;

/// A list of numbers from `least` to `most`, not more of them than kMaxList.
std::vector<uint32_t> numbers(ConfigReader& config, std::string_view name, uint32_t least,
                              uint32_t most, std::vector<uint32_t> otherwise = {}) {
  if (!config.has(name) && !otherwise.empty()) return otherwise;
  std::vector<uint32_t> found = config.counts(name);
  const auto fits = [&](uint32_t number) { return number >= least && number <= most; };
  if (found.empty() || found.size() > kMaxList || !std::ranges::all_of(found, fits)) {
    config.reject(
        {ErrorCode::kInvalidInput, fmt::format("{} is not a list of 1 to {} numbers from {} to {}.",
                                               config.path(name), kMaxList, least, most)});
    found = {least};
  }
  return found;
}

uint32_t number(ConfigReader& config, std::string_view name, uint32_t most,
                std::optional<uint32_t> otherwise = {}) {
  const uint32_t found = config.size(name, otherwise);
  if (found <= most) return found;
  config.reject({ErrorCode::kInvalidInput,
                 fmt::format("{} is {}, expected at most {}.", config.path(name), found, most)});
  return 1;
}

void expect(ConfigReader& config, std::string_view name, const char* expected,
            const char* otherwise) {
  const std::string found = config.word(name, otherwise);
  if (found == expected) return;
  config.reject({ErrorCode::kUnsupported, fmt::format("{} is \"{}\", expected \"{}\".",
                                                      config.path(name), found, expected)});
}

}  // namespace

Result<NanoCodec> read_nanocodec(ConfigReader config) {
  NanoCodec c;
  c.sample_rate = config.size("sample_rate");
  const uint32_t samples = config.size("samples_per_frame");
  ConfigReader decoder = config.at("audio_decoder"), quantizer = config.at("vector_quantizer");
  c.rates = numbers(decoder, "up_sample_rates", 1, 64);
  const uint32_t input = decoder.size("input_dim");
  c.channels = number(decoder, "base_channels", kMaxChannels);
  c.in_taps = number(decoder, "in_kernel_size", kMaxTaps, 7);
  c.out_taps = number(decoder, "out_kernel_size", kMaxTaps, 3);
  c.taps = numbers(decoder, "resblock_kernel_sizes", 1, kMaxTaps, {3, 7, 11});
  c.dilations = numbers(decoder, "resblock_dilation_sizes", 1, kMaxDilation, {1, 3, 5});
  expect(decoder, "activation", "half_snake", "lrelu");
  expect(decoder, "output_activation", "clamp", "tanh");
  expect(decoder, "pad_mode", "zeros", "zeros");
  if (!decoder.flag("n_groups_equal_to_out_channels", true)) {
    decoder.reject({ErrorCode::kUnsupported,
                    fmt::format("{} is false; this engine upsamples two columns into one.",
                                decoder.path("n_groups_equal_to_out_channels"))});
  }
  c.groups = number(quantizer, "num_groups", kMaxGroups);
  c.levels = numbers(quantizer, "num_levels_per_group", 2, 4096);
  TOK_TRY(config.status());
  TOK_TRY(decoder.status());
  TOK_TRY(quantizer.status());
  uint64_t codes = 1, made = 1;
  for (const uint32_t count : c.levels) codes = std::min<uint64_t>(codes * count, kMaxCodes + 1);
  for (const uint32_t rate : c.rates) made = std::min<uint64_t>(made * rate, kMaxSamples + 1);
  if (codes > kMaxCodes) {
    return invalid_input("{} makes more than {} codes.", quantizer.path("num_levels_per_group"),
                         kMaxCodes);
  }
  if (made > kMaxSamples || made != samples) {
    return invalid_input("{} is {}, expected the product of up_sample_rates, at most {}.",
                         config.path("samples_per_frame"), samples, kMaxSamples);
  }
  if (input != c.input()) {
    return invalid_input("{} is {}, expected {}: {} numbers for each of {} groups.",
                         decoder.path("input_dim"), input, c.input(), c.levels.size(), c.groups);
  }
  const uint32_t halves = 1u << c.rates.size();
  if (c.channels % halves != 0 || c.channels / halves < 2) {
    return invalid_input(
        "{} is {}, expected a multiple of {} with 2 or more of it: each of {} "
        "rates halves it.",
        decoder.path("base_channels"), c.channels, halves, c.rates.size());
  }
  return c;
}

uint32_t NanoCodec::samples_per_frame() const {
  return std::accumulate(rates.begin(), rates.end(), 1u, std::multiplies<>());
}

uint32_t NanoCodec::reach() const {
  const uint32_t dilated = std::accumulate(dilations.begin(), dilations.end(), 0u);
  return (std::ranges::max(taps) - 1) * (dilated + uint32_t(dilations.size()));
}

}  // namespace tokamak
