#include "audio/plain_sound.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "audio/decode.h"

namespace tokamak {
namespace {

/// Bytes of a number, big end first.
std::string big(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = bytes; i-- > 0;) text += char(value >> 8 * i);
  return text;
}

struct Aiff {
  std::string type;  // of AIFF-C
  uint32_t channels = 1, frames = 4, bits = 16;
  std::string data = std::string("\x80\0\0\0\x40\0\x20\0", 8);
  uint32_t data_bytes = 8;      // as its header says
  uint64_t rate = 0x400c'fa00;  // 16000, the first 32 bits of it

  std::string file() const {
    std::string format =
        big(channels, 2) + big(frames, 4) + big(bits, 2) + big(rate, 4) + big(0, 6);
    if (!type.empty()) format += type + std::string("\0\0", 2);
    const std::string chunks = (type.empty() ? "AIFF" : "AIFC") + std::string("COMM") +
                               big(format.size(), 4) + format + "SSND" + big(data_bytes + 8, 4) +
                               big(0, 8) + data;
    return "FORM" + big(chunks.size(), 4) + chunks;
  }
};

std::string au(uint32_t encoding, const std::string& data, uint32_t size, uint32_t rate = 16000) {
  return ".snd" + big(28, 4) + big(size, 4) + big(encoding, 4) + big(rate, 4) + big(1, 4) + "note" +
         data;
}

std::string caf(const std::string& type, uint32_t flags, uint32_t bits, const std::string& data,
                uint64_t size) {
  return "caff" + big(0x10000, 4) + "desc" + big(32, 8) + big(std::bit_cast<uint64_t>(16000.0), 8) +
         type + big(flags, 4) + big(bits / 8, 4) + big(1, 4) + big(1, 4) + big(bits, 4) + "free" +
         big(3, 8) + "abc" + "data" + big(size, 8) + big(0, 4) + data;
}

Result<DecodedSound> decode(const std::string& file) {
  return decode_as_far_as_possible(std::as_bytes(std::span(file)));
}

Samples samples_of(const std::string& file) {
  auto sound = decode(file);
  EXPECT_TRUE(sound) << sound.error().message;
  if (!sound) return {};
  EXPECT_EQ(sound->missing, "");
  return std::move(sound->samples);
}

std::string error_of(const std::string& file) {
  const auto sound = decode(file);
  return sound ? "" : sound.error().message;
}

const std::string kWords = std::string("\x80\0\0\0\x40\0\x20\0", 8);
const Samples kExpected = {-1, 0, 0.5, 0.25};

TEST(PlainSound, ReadsAiff) {
  EXPECT_EQ(samples_of(Aiff{}.file()), kExpected);
  EXPECT_EQ(samples_of(Aiff{.type = "NONE"}.file()), kExpected);
  EXPECT_EQ(
      samples_of(Aiff{.type = "sowt", .data = std::string("\0\x80\0\0\0\x40\0\x20", 8)}.file()),
      kExpected);
  EXPECT_EQ(
      samples_of(
          Aiff{.frames = 2, .bits = 24, .data = std::string("\x80\0\0\x40\0\0", 6), .data_bytes = 6}
              .file()),
      (Samples{-1, 0.5}));
  EXPECT_EQ(samples_of(Aiff{.type = "fl32",
                            .frames = 1,
                            .bits = 32,
                            .data = big(std::bit_cast<uint32_t>(0.5f), 4),
                            .data_bytes = 4}
                           .file()),
            Samples{0.5});
  EXPECT_EQ(samples_of(Aiff{.channels = 2, .frames = 2}.file()), (Samples{-0.5, 0.375}));
}

TEST(PlainSound, ReadsAu) {
  EXPECT_EQ(samples_of(au(3, kWords, 8)), kExpected);
  EXPECT_EQ(samples_of(au(7, big(std::bit_cast<uint64_t>(0.5), 8), 8)), Samples{0.5});
  EXPECT_EQ(samples_of(au(1, "\xff", 1)), Samples{0});
}

TEST(PlainSound, ReadsCaf) {
  EXPECT_EQ(samples_of(caf("lpcm", 0, 16, kWords, 12)), kExpected);
  const std::string little("\0\x80\0\0\0\x40\0\x20", 8);
  EXPECT_EQ(samples_of(caf("lpcm", 2, 16, little, 12)), kExpected);
  EXPECT_EQ(samples_of(caf("lpcm", 1, 32, big(std::bit_cast<uint32_t>(0.5f), 4), 8)), Samples{0.5});
}

TEST(PlainSound, ReadsAllThatFollowsWhereTheLengthWasNotKnown) {
  EXPECT_EQ(samples_of(Aiff{.frames = 0, .data_bytes = uint32_t(-8)}.file()), kExpected);
  EXPECT_EQ(samples_of(au(3, kWords, 0xffff'ffff)), kExpected);
  EXPECT_EQ(samples_of(au(3, kWords, 0)), kExpected);
  EXPECT_EQ(samples_of(caf("lpcm", 0, 16, kWords, uint64_t(-1))), kExpected);
}

TEST(PlainSound, ReadsFilesThatWerePutTogether) {
  Samples twice = kExpected;
  twice.insert(twice.end(), kExpected.begin(), kExpected.end());
  EXPECT_EQ(samples_of(Aiff{}.file() + Aiff{}.file()), twice);
  EXPECT_EQ(samples_of(au(3, kWords, 8) + au(3, kWords, 8)), twice);
}

TEST(PlainSound, NotesWhatIsCutOff) {
  for (const std::string& whole :
       {Aiff{}.file(), au(3, kWords, 8), caf("lpcm", 0, 16, kWords, 12)}) {
    const auto cut = decode(whole.substr(0, whole.size() - 4));
    ASSERT_TRUE(cut) << cut.error().message;
    EXPECT_EQ(cut->samples, (Samples{-1, 0}));
    EXPECT_NE(cut->missing.find("its header says 4 samples, but 2 follow."), std::string::npos)
        << cut->missing;
    for (size_t size = 4; size + 8 < whole.size(); ++size)
      EXPECT_NE(error_of(whole.substr(0, size)), "");
  }
}

TEST(PlainSound, NamesWhatIsNotRead) {
  EXPECT_EQ(error_of(caf("aac ", 0, 0, kWords, 12)),
            "CAF: The sound is encoded as \"aac \", which is not read here; convert it first: "
            "ffmpeg -i FILE sound.wav");
  EXPECT_NE(error_of(Aiff{.type = "ima4"}.file()).find("AIFF: The sound is encoded as \"ima4\""),
            std::string::npos);
  EXPECT_NE(error_of(au(23, kWords, 8)).find("number 23 of AU"), std::string::npos);
  EXPECT_EQ(error_of(au(3, kWords, 8, 999)),
            "AU: The sound has 999 samples a second, expected 1000 to 768000.");
  EXPECT_EQ(error_of(Aiff{.channels = 0}.file()),
            "AIFF: The sound has 0 channels, expected 1 to 32.");
  EXPECT_NE(error_of(Aiff{.rate = 0xffff'ffff}.file()), "");
}

}  // namespace
}  // namespace tokamak
