#include "audio/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

// See fuzz/sound.cpp: libvorbis forgets some kilobytes of a damaged header (Debian 12's 1.3.7).
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libvorbis";
}

namespace tokamak {
namespace {

std::string file_of(const std::string& name) {
  std::ifstream file(TOKAMAK_TEST_DATA "/audio/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<Samples> decode(const std::string& file, const SoundLimits& limits = {}) {
  return decode_sound(std::as_bytes(std::span(file)), limits);
}

std::string error_of(const std::string& file, const SoundLimits& limits = {}) {
  const auto samples = decode(file, limits);
  return samples ? "" : samples.error().message;
}

std::string number(uint32_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += char(value >> 8 * i);
  return text;
}

struct Wav {
  uint32_t encoding = 1, channels = 1, rate = 16000, bits = 16;
  std::string data = std::string(64, '\1');
  uint32_t data_bytes = 64;  // as its header says

  std::string file() const {
    const uint32_t block = channels * bits / 8;
    const std::string format = number(encoding, 2) + number(channels, 2) + number(rate, 4) +
                               number(rate * block, 4) + number(block, 2) + number(bits, 2);
    const std::string chunks =
        "WAVEfmt " + number(16, 4) + format + "data" + number(data_bytes, 4) + data;
    return "RIFF" + number(uint32_t(chunks.size()), 4) + chunks;
  }
};

std::string floats(float value, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += number(std::bit_cast<uint32_t>(value), 4);
  return text;
}

TEST(DecodeSound, DividesSamplesByTheLargestOfTheirBits) {
  const auto bytes = decode(Wav{.bits = 8, .data = "\x80\xff", .data_bytes = 2}.file());
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, (Samples{0, 127 / 128.0f}));
  const auto words = decode(Wav{.data = std::string("\0\x80\0\x40", 4), .data_bytes = 4}.file());
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words, (Samples{-1, 0.5}));
}

TEST(DecodeSound, AveragesChannels) {
  const auto mono =
      decode(Wav{.channels = 2, .data = std::string("\0\x40\0\x20", 4), .data_bytes = 4}.file());
  ASSERT_TRUE(mono) << mono.error().message;
  EXPECT_EQ(*mono, Samples{0.375});
}

TEST(DecodeSound, ReadsUntilTheEndWhereTheLengthWasNotKnown) {
  for (const uint32_t bytes : {0u, 0x7fff'ffffu, 0xffff'ffffu}) {
    const auto samples = decode(Wav{.data_bytes = bytes}.file());
    ASSERT_TRUE(samples) << samples.error().message;
    EXPECT_EQ(samples->size(), 32u);
  }
}

TEST(DecodeSound, ReportsThatNothingCameOrNothingThatIsRead) {
  EXPECT_EQ(error_of(""), "The file is empty, expected a sound.");
  const char* const unknown =
      "The file is not a sound that is read here, expected WAV, FLAC, Ogg (Vorbis, Opus), MP3, "
      "AIFF, AU or CAF; convert it first: ffmpeg -i FILE sound.wav";
  EXPECT_EQ(error_of("RIFF\x10\1\1\1WEBPVP8 "), unknown);
  EXPECT_EQ(error_of("RI"), unknown);
  for (const auto& [file, name] :
       {std::pair(std::string("\0\0\0\x20"
                              "ftypM4A ",
                              12),
                  "MPEG-4 (M4A, MP4, MOV)"),
        std::pair(std::string("\x1A\x45\xDF\xA3\x01"), "Matroska or WebM"),
        std::pair(std::string("#!AMR\n"), "AMR")}) {
    EXPECT_EQ(error_of(file).find(fmt::format("The file is {}, expected WAV", name)), 0u);
  }
  EXPECT_EQ(error_of(Wav{.data = "", .data_bytes = 0}.file()), "WAV: The sound has no samples.");
}

TEST(DecodeSound, RefusesEncodingsThatHardlyAnyoneHas) {
  constexpr uint32_t kGsm = 0x31;
  EXPECT_NE(error_of(Wav{.encoding = kGsm, .bits = 0}.file()), "");
  EXPECT_EQ(error_of(Wav{.encoding = 2, .bits = 4}.file()).find("WAV: "), 0u);
}

TEST(DecodeSound, RefusesSizesThatNoSoundHas) {
  EXPECT_EQ(error_of(Wav{.rate = 999}.file()),
            "WAV: The sound has 999 samples a second, expected 1000 to 768000.");
  EXPECT_EQ(error_of(Wav{.rate = 2'000'000'000}.file()),
            "WAV: The sound has 2000000000 samples a second, expected 1000 to 768000.");
  EXPECT_EQ(error_of(Wav{.channels = 33, .data = std::string(66, 0), .data_bytes = 66}.file()),
            "WAV: The sound has 33 channels, expected 1 to 32.");
  EXPECT_NE(error_of(Wav{.channels = 0}.file()), "");
}

TEST(DecodeSound, RefusesWhatIsLongerThanAllowed) {
  const SoundLimits limits = {.max_seconds = 1};
  const auto wav = [](uint32_t samples) {
    return Wav{.data = std::string(2 * samples, 0), .data_bytes = 2 * samples}.file();
  };
  EXPECT_EQ(error_of(wav(16000), limits), "");
  const char* const message = "WAV: The sound is longer than 1 seconds; cut it into parts first.";
  EXPECT_EQ(error_of(wav(16001), limits), message);
  EXPECT_EQ(error_of(wav(100), {.max_file_bytes = 100}),
            "The sound file has 244 bytes, expected at most 100; cut it into parts first.");
}

TEST(DecodeSound, RefusesSamplesThatAreNoNumbers) {
  const auto wav = [](float value) {
    return Wav{.encoding = 3, .bits = 32, .data = floats(0, 3) + floats(value, 1), .data_bytes = 16}
        .file();
  };
  EXPECT_EQ(error_of(wav(1.5f)), "");
  EXPECT_EQ(error_of(wav(NAN)),
            "WAV: Sample 3 of the sound is nan, expected a number from -1 to 1.");
  EXPECT_EQ(error_of(wav(-INFINITY)),
            "WAV: Sample 3 of the sound is -inf, expected a number from -1 to 1.");
  EXPECT_EQ(error_of(wav(1e30f)),
            "WAV: Sample 3 of the sound is 1e+30, expected a number from -1 to 1.");
}

TEST(DecodeSound, RefusesAHeaderThatSaysMoreThanThereIs) {
  EXPECT_EQ(error_of(Wav{.data_bytes = 1'000'000}.file()),
            "WAV: The file is cut off: its header says 1000000 bytes of samples, but 64 follow.");
}

TEST(DecodeSound, RefusesFilesThatAreCutOffAnywhere) {
  for (const char* name : {"s16_44k_stereo.wav", "f32_22k.wav", "s16.flac", "s24_stereo.flac",
                           "vorbis.ogg", "opus.opus"}) {
    const std::string whole = file_of(name);
    // A file that ends inside a chunk after the samples has all of them.
    const size_t after_samples = 16;
    for (size_t size = 1; size + after_samples < whole.size(); size += 1 + whole.size() / 37) {
      EXPECT_NE(error_of(whole.substr(0, size)), "") << name << " of " << size << " bytes";
    }
  }
}

TEST(DecodeSound, TakesDamageWithAnErrorOrASound) {
  for (const char* name : {"s24_48k.wav", "s16.flac", "vorbis.ogg", "opus.opus", "layer3.mp3"}) {
    const std::string whole = file_of(name);
    for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 101) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ 0x55);
      const auto samples = decode(damaged);
      if (samples) {
        EXPECT_FALSE(samples->empty());
      }
    }
  }
}

}  // namespace
}  // namespace tokamak
