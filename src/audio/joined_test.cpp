// Files whose headers have no length, or a wrong one, and files that were put one after the other,
// of all formats.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "audio/decode.h"
#include "audio/encode.h"

namespace tokamak {
namespace {

std::string file_of(const std::string& name) {
  std::ifstream file(TOKAMAK_TEST_DATA "/audio/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

DecodedSound decoded(const std::string& file) {
  auto sound = decode_as_far_as_possible(std::as_bytes(std::span(file)));
  EXPECT_TRUE(sound) << sound.error().message;
  return sound ? *std::move(sound) : DecodedSound();
}

double seconds(const std::string& file) {
  return seconds_of(decoded(file).samples.size());
}

/// Half a second of MP3.
std::string mp3(uint32_t rate) {
  const auto encoder = SoundEncoder::make(SoundFileFormat::kMp3, rate, false);
  EXPECT_TRUE(encoder);
  std::vector<float> samples(rate / 2);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = i % 100 < 50 ? 0.1f : -0.1f;
  EXPECT_TRUE((*encoder)->add(samples));
  return *(*encoder)->finish();
}

constexpr double kNear = 1e-3;
constexpr size_t kXingFrame = 417;  // bytes of the first frame of layer3.mp3
constexpr size_t kXingFrames = 44;  // the place of the number of frames that follow

std::string with_frames(uint8_t frames) {
  std::string file = file_of("layer3.mp3");
  file[kXingFrames + 3] = char(frames);
  return file;
}

TEST(JoinedFiles, AreOneSound) {
  for (const char* name : {"layer3.mp3", "vorbis.ogg", "opus.opus", "s16_8k.wav"}) {
    const std::string one = file_of(name);
    const DecodedSound sound = decoded(one + one + one);
    EXPECT_NEAR(seconds_of(sound.samples.size()), 1.5, kNear) << name;
    EXPECT_EQ(sound.missing, "") << name;
  }
  EXPECT_NEAR(seconds(file_of("s16.flac") + file_of("s24_stereo.flac")),
              seconds(file_of("s16.flac")) + seconds(file_of("s24_stereo.flac")), kNear);
}

TEST(JoinedFiles, MayChangeTheirRateChannelsAndCodec) {
  EXPECT_NEAR(seconds(mp3(16000) + mp3(44100) + mp3(24000)), 1.5, kNear);
  EXPECT_NEAR(seconds(file_of("vorbis.ogg") + file_of("opus.opus")), 1, kNear);
  EXPECT_NEAR(seconds(file_of("s16_44k_stereo.wav") + file_of("u8_11k.wav")), 0.8, kNear);
}

TEST(JoinedFiles, MayNotChangeTheirRateAllTheTime) {
  using namespace std::string_literals;
  std::string file;
  for (int i = 0; i < 1001; ++i) {  // a sample each, at 8000 or 16000
    file += "RIFF....WAVEfmt \x10\0\0\0\1\0\1\0"s + (i % 2 == 0 ? "\x40\x1f"s : "\x80\x3e"s) +
            "\0\0\0\0\0\0\2\0\x10\0data\2\0\0\0\1\0"s;
  }
  const auto sound = decode_as_far_as_possible(std::as_bytes(std::span(file)));
  ASSERT_FALSE(sound);
  EXPECT_EQ(sound.error().message,
            "WAV: The sound changes its rate or channels more than 1000 times.");
}

TEST(JoinedFiles, MayNotHaveMorePiecesThanTheyNeed) {
  using namespace std::string_literals;
  std::string file = "RIFF....WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\0\0\0\0\2\0\x10\0"s;
  for (int i = 0; i < 10'001; ++i) file += "data\2\0\0\0\1\0"s;
  const auto sound = decode_as_far_as_possible(std::as_bytes(std::span(file)));
  ASSERT_FALSE(sound);
  EXPECT_EQ(sound.error().message, "WAV: The sound has more than 10000 pieces.");
}

TEST(JoinedFiles, MayHaveTagsBetweenThem) {
  using namespace std::string_literals;
  const std::string one = mp3(24000);
  const std::string before = "ID3\4\0\0\0\0\2\0"s + std::string(256, '\xff');
  const std::string after = "TAG" + std::string(125, ' ');
  EXPECT_NEAR(seconds(before + one + after + before + one + after), 1, kNear);
  EXPECT_NEAR(seconds(before + file_of("s16_8k.wav")), 0.5, kNear);
  EXPECT_NEAR(seconds(before + file_of("s16.flac")), seconds(file_of("s16.flac")), kNear);
}

TEST(JoinedFiles, ContinueAfterOneThatIsCutOff) {
  const std::string one = file_of("opus.opus");
  const DecodedSound sound = decoded(one + one.substr(0, one.size() / 2) + one);
  EXPECT_NEAR(seconds_of(sound.samples.size()), 1, kNear);
  EXPECT_EQ(sound.missing,
            "Ogg: The file is cut off: a page has at least 3984 bytes, but 1556 follow.");
}

TEST(Mp3, IsReadToItsEndWhateverItsHeaderSays) {
  constexpr double kFrames = 21 * 1152 / 44100.0;
  EXPECT_NEAR(seconds(file_of("layer3.mp3").substr(kXingFrame)), kFrames, kNear);
  EXPECT_GT(seconds(with_frames(3)), 0.5 - kNear);
  const DecodedSound sound = decoded(with_frames(200));
  EXPECT_GT(seconds_of(sound.samples.size()), 0.5 - kNear);
  EXPECT_EQ(sound.missing, "MP3: The file is cut off: its header says 200 frames, but 21 follow.");
}

TEST(Mp3, MayBeginWithOtherBytes) {
  EXPECT_NEAR(seconds(std::string(3000, '\0') + file_of("layer3.mp3")), 0.5, kNear);
  EXPECT_GT(seconds(file_of("layer3.mp3").substr(2500)), 0.3);
}

TEST(Mp3, WritesNothingToStandardError) {
  testing::internal::CaptureStderr();
  std::string file = file_of("layer3.mp3");
  for (size_t at = 500; at < file.size(); at += 97) file[at] = char(file[at] ^ 0x55);
  decode_as_far_as_possible(std::as_bytes(std::span(file)));
  decoded(file.substr(0, 2000) + mp3(16000));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Flac, IsReadToItsEndWhateverItsHeaderSays) {
  constexpr size_t kTotal = 22, kHash = 26;
  const std::string file = file_of("s16.flac");
  const double all = seconds(file);
  std::string changed = file;
  for (size_t i = 0; i < 16; ++i) changed[kHash + i] = '\0';
  for (const char total : {'\0', '\1'}) {
    changed[kTotal + 2] = total;
    changed[kTotal + 3] = '\0';
    EXPECT_NEAR(seconds(changed), all, 1e-9) << int(total);
  }
  changed[kTotal] = '\1';
  EXPECT_NEAR(seconds(changed), all, 1e-9);
  EXPECT_EQ(decoded(changed).missing,
            "FLAC: The file is damaged or cut off: its header says 16777472 samples, but 8000 "
            "follow.");
}

TEST(Ogg, NeedsNoMarkOfItsEnd) {
  constexpr size_t kFlags = 5;
  for (const char* name : {"opus.opus", "vorbis.ogg"}) {
    std::string file = file_of(name);
    char& flags = file[file.rfind("OggS") + kFlags];
    ASSERT_EQ(flags, 4);
    flags = 0;  // its checksum is then wrong, too: it is made anew
    EXPECT_NEAR(seconds(file), 0.5, kNear) << name;
  }
}

TEST(Wav, MayHoldMp3) {
  using namespace std::string_literals;
  const std::string sound = file_of("layer3.mp3");
  const auto number = [](size_t value) {
    return std::string{char(value), char(value >> 8), char(value >> 16), char(value >> 24)};
  };
  EXPECT_NEAR(seconds("RIFF....WAVEfmt \x10\0\0\0\x55\0\1\0\x44\xac\0\0........data"s +
                      number(sound.size()) + sound),
              0.5, kNear);
}

}  // namespace
}  // namespace tokamak
