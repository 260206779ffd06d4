// Every sound of tests/data/audio decoded, averaged, resampled and turned into log-mel features as
// recorded. Each stage is compared by itself, so that a failure says which one differs.
#include <gtest/gtest.h>

#include <cmath>

#include "audio/log_mel.h"
#include "golden/recorded_sounds.h"

namespace tokamak::golden {
namespace {

const std::string kFolder = TOKAMAK_TEST_DATA "/audio/";

double rms(const Samples& samples) {
  double sum = 0;
  for (const float one : samples) sum += double(one) * one;
  return std::sqrt(sum / double(samples.size()));
}

TEST(AudioGolden, EveryKindOfWavIsOneChannelAt16Kilohertz) {
  const Json golden = read_json(kFolder + "golden.json");
  const auto arrays = open_safetensors_file(kFolder + "golden.safetensors");
  ASSERT_TRUE(arrays) << arrays.error().message;
  for (const Json& entry : golden.find("files")->as_array()) {
    SCOPED_TRACE(entry.find("file")->as_string());
    const Samples samples = samples_of(kFolder + entry.find("file")->as_string());
    const auto expected_size = size_t(entry.find("samples_16k")->as_integer());
    if (entry.find("sample_rate")->as_integer() != kSampleRate) {
      ASSERT_NEAR(double(samples.size()), double(expected_size), 1);
      const std::vector<float> expected = recorded(*arrays, entry.find("mono_16k")->as_string());
      // Resamplers differ at the ends, where they know half of what they need.
      constexpr size_t kEnds = kSampleRate / 50;
      for (size_t i = kEnds; i + kEnds < expected.size(); ++i) {
        ASSERT_NEAR(samples[i], expected[i], 1.5e-3) << i;
      }
      continue;
    }
    ASSERT_EQ(samples.size(), expected_size);
    const Json::Array& first = entry.find("first_samples")->as_array();
    const auto channels = size_t(entry.find("channels")->as_integer());
    for (size_t t = 0; t < first.size() / channels; ++t) {
      double mean = 0;
      for (size_t c = 0; c < channels; ++c) mean += first[t * channels + c].as_number();
      EXPECT_NEAR(samples[t], mean / double(channels), 1e-7) << t;
    }
  }
}

TEST(AudioGolden, CompressedSoundsAreAsRecorded) {
  const Json golden = read_json(kFolder + "golden.json");
  for (const Json& entry : golden.find("compressed")->as_array()) {
    SCOPED_TRACE(entry.find("file")->as_string());
    const Samples samples = samples_of(kFolder + entry.find("file")->as_string());
    ASSERT_NEAR(double(samples.size()), double(entry.find("mono_16k_samples")->as_integer()), 1);
    const double expected_rms = entry.find("mono_16k_rms")->as_number();
    EXPECT_NEAR(rms(samples), expected_rms, 0.02 * expected_rms);
    const Json::Array& middle = entry.find("mono_16k_middle")->as_array();
    for (size_t i = 0; i < middle.size(); ++i) {
      EXPECT_NEAR(samples[samples.size() / 2 + i], middle[i].as_number(), 2e-2) << i;
    }
  }
}

TEST(AudioGolden, LogMelIsAsRecorded) {
  const Json golden = read_json(kFolder + "golden.json");
  const auto arrays = open_safetensors_file(kFolder + "golden.safetensors");
  ASSERT_TRUE(arrays) << arrays.error().message;
  for (const Json& entry : golden.find("log_mel")->as_array()) {
    SCOPED_TRACE(entry.find("mel")->as_string());
    Samples samples = samples_of(kFolder + entry.find("file")->as_string());
    samples.resize(size_t(entry.find("chunk_seconds")->as_integer()) * kSampleRate);
    const auto bins = uint32_t(entry.find("mel_bins")->as_integer());
    const std::vector<float> mel = LogMel(bins).of(samples);
    const std::vector<float> expected = recorded(*arrays, entry.find("mel")->as_string());
    const auto stored = size_t(entry.find("stored_frames")->as_integer());
    const bool was_resampled = entry.find("file")->as_string() != "s16_16k.wav";
    // The reference computes in f32. Where a resampler came before, quiet bands of frames at the
    // end of the sound differ.
    const double tolerance = was_resampled ? 0.2 : 1e-4;
    for (size_t bin = 0; bin < bins; ++bin) {
      for (size_t t = 0; t < stored; ++t) {
        ASSERT_NEAR(mel[t * bins + bin], expected[bin * stored + t], tolerance) << bin << " " << t;
      }
    }
    double sum = 0;
    for (const float one : mel) sum += one;
    EXPECT_NEAR(sum / double(mel.size()), entry.find("mean")->as_number(),
                was_resampled ? 1e-3 : 1e-5);
  }
}

TEST(AudioGolden, MelFiltersAreAsRecorded) {
  const auto arrays = open_safetensors_file(kFolder + "golden.safetensors");
  ASSERT_TRUE(arrays) << arrays.error().message;
  const std::vector<float> expected = recorded(*arrays, "filters80");
  const LogMel mel(80);
  for (uint32_t i = 0; i < LogMel::kFrequencies; ++i) {
    for (uint32_t bin = 0; bin < 80; ++bin) {
      ASSERT_NEAR(mel.weight(i, bin), expected[i * 80 + bin], 1e-8) << i << " " << bin;
    }
  }
}

}  // namespace
}  // namespace tokamak::golden
