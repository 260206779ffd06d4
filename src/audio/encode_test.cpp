#include "audio/encode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "audio/decode.h"

namespace tokamak {
namespace {

constexpr uint32_t kRate = 22050;

/// Half a second of it.
std::vector<float> tone() {
  std::vector<float> out;
  for (uint32_t i = 0; i < kRate / 2; ++i) {
    out.push_back(0.5f * float(std::sin(2 * std::numbers::pi * 440 * i / kRate)));
  }
  return out;
}

std::string encoded(SoundFileFormat format, bool is_stream, std::span<const float> samples,
                    size_t step = 1000) {
  auto encoder = SoundEncoder::make(format, kRate, is_stream);
  EXPECT_TRUE(encoder) << encoder.error().message;
  if (!encoder) return "";
  std::string out;
  for (; !samples.empty(); samples = samples.subspan(std::min(step, samples.size()))) {
    const auto bytes = (*encoder)->add(samples.first(std::min(step, samples.size())));
    EXPECT_TRUE(bytes);
    if (bytes) out += *bytes;
  }
  const auto bytes = (*encoder)->finish();
  EXPECT_TRUE(bytes);
  return bytes ? out + *bytes : out;
}

/// How much of a sound of 16 kHz is the tone, from 0 to 1.
double share_of_tone(std::span<const float> samples) {
  double sine = 0, cosine = 0, all = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double angle = 2 * std::numbers::pi * 440 * double(i) / kSampleRate;
    sine += double(samples[i]) * std::sin(angle);
    cosine += double(samples[i]) * std::cos(angle);
    all += double(samples[i]) * double(samples[i]);
  }
  return 2 * (sine * sine + cosine * cosine) / (double(samples.size()) * all);
}

class Encoded : public testing::TestWithParam<SoundFileFormat> {};

TEST_P(Encoded, IsReadAgain) {
  const std::string file = encoded(GetParam(), false, tone());
  const auto samples = decode_sound(std::as_bytes(std::span(file)));
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_NEAR(double(samples->size()), kSampleRate / 2.0, 2);
  EXPECT_GT(share_of_tone(std::span(*samples).subspan(2000, 4000)), 0.99);
}

TEST_P(Encoded, IsReadAgainAsAStream) {
  const std::string file = encoded(GetParam(), true, tone());
  if (GetParam() == SoundFileFormat::kWav) {
    EXPECT_EQ(file.substr(4, 4), "\xff\xff\xff\xff");
    EXPECT_EQ(file.substr(40, 4), "\xff\xff\xff\xff");
    EXPECT_EQ(file.substr(44), encoded(SoundFileFormat::kPcm, true, tone()));
    return;
  }
  const auto samples = decode_sound(std::as_bytes(std::span(file)));
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_GT(share_of_tone(std::span(*samples).subspan(2000, 4000)), 0.99);
}

INSTANTIATE_TEST_SUITE_P(Formats, Encoded,
                         testing::Values(SoundFileFormat::kWav, SoundFileFormat::kFlac,
                                         SoundFileFormat::kOpus, SoundFileFormat::kMp3));

TEST(SoundEncoder, ClipsWhatIsTooLoud) {
  const std::vector<float> samples = {0, 1, -1, 2, -2, 0.5f};
  EXPECT_EQ(encoded(SoundFileFormat::kPcm, true, samples),
            std::string("\0\0\xff\x7f\x01\x80\xff\x7f\x01\x80\0\x40", 12));
  EXPECT_EQ(encoded(SoundFileFormat::kWav, false, samples).size(), 44 + 12u);
}

TEST(SoundEncoder, RecognizesFormatsByNameAndEnding) {
  EXPECT_EQ(sound_file_format("opus"), SoundFileFormat::kOpus);
  EXPECT_EQ(sound_file_format("aac"), std::nullopt);
  EXPECT_EQ(sound_format_of_file("a.b/c.OGG"), SoundFileFormat::kOpus);
  EXPECT_EQ(sound_format_of_file("c.wave"), std::nullopt);
  EXPECT_EQ(sound_format_of_file("wav"), std::nullopt);
  EXPECT_EQ(content_type(SoundFileFormat::kMp3), "audio/mpeg");
}

}  // namespace
}  // namespace tokamak
