#include "audio/wav.h"

#include <gtest/gtest.h>

#include <string>

namespace tokamak {
namespace {

using namespace std::string_literals;

const std::string kFormat = "fmt \x10\0\0\0................"s;

/// The samples of all pieces; an error's text where there is one.
std::string samples_of(const std::string& chunks, const std::string& mark = "RIFF") {
  const std::string file = mark + "\5\0\0\0WAVE"s + chunks;
  const auto wav = read_wav(std::as_bytes(std::span(file)));
  if (!wav) return wav.error().message;
  std::string text;
  for (const WavPiece& piece : wav->pieces) {
    text += text.empty() ? "" : "|";
    text.append(reinterpret_cast<const char*>(piece.samples.data()), piece.samples.size());
  }
  return wav->missing.empty() ? text : text + ": " + wav->missing;
}

std::string data(const std::string& size, const std::string& samples) {
  return kFormat + "data" + size + samples;
}

TEST(ReadWav, PassesOverOtherChunksAndTheirPadding) {
  EXPECT_EQ(samples_of("LIST\3\0\0\0abc."s + data("\2\0\0\0"s, "xyLIST\2\0\0\0ab"s)), "xy");
}

TEST(ReadWav, FindsChunksWhosePaddingIsMissing) {
  EXPECT_EQ(samples_of("LIST\3\0\0\0abc"s + data("\2\0\0\0"s, "xy")), "xy");
  EXPECT_EQ(samples_of(data("\3\0\0\0"s, "xyzLIST\2\0\0\0ab"s)), "xyz");
}

TEST(ReadWav, ReadsToTheEndWhereNobodyKnewTheSize) {
  for (const std::string& size : {"\0\0\0\0"s, "\xff\xff\xff\x7f"s, "\xff\xff\xff\xff"s}) {
    EXPECT_EQ(samples_of(data(size, "\1\2\3\4\5\6\7\x08\x09\x0a"s)), "\1\2\3\4\5\6\7\x08\x09\x0a"s);
  }
}

TEST(ReadWav, ReadsNoChunksAsSamples) {
  EXPECT_EQ(samples_of(data("\0\0\0\0"s, "LIST\4\0\0\0abcd"s)), "");
  EXPECT_EQ(samples_of(data("\0\0\0\0"s, "")), "");
}

TEST(ReadWav, TakesNoLongerForManyEmptyChunks) {
  std::string chunks = kFormat;
  for (int i = 0; i < 200'000; ++i) chunks += "data\0\0\0\0"s;
  EXPECT_EQ(samples_of(chunks), "");
}

TEST(ReadWav, NotesSamplesThatAreMissing) {
  EXPECT_EQ(samples_of(data("\3\0\0\0"s, "xy")),
            "xy: The file is cut off: its header says 3 bytes of samples, but 2 follow.");
}

TEST(ReadWav, TakesLongSizesOfRf64) {
  const auto sizes = [](const std::string& samples) {
    return "ds64\x1c\0\0\0........"s + samples + "\0\0\0\0\0\0\0............"s;
  };
  for (const char* mark : {"RF64", "BW64"}) {
    EXPECT_EQ(samples_of(sizes("\2") + data("\xff\xff\xff\xff", "xyLIST\2\0\0\0ab"s), mark), "xy");
    EXPECT_EQ(samples_of(sizes("\0"s) + data("\xff\xff\xff\xff", "xyz"), mark), "xyz");
  }
}

TEST(ReadWav, ReadsFilesThatWerePutOneAfterTheOther) {
  EXPECT_EQ(samples_of(data("\2\0\0\0"s, "ab") + "RIFF\5\0\0\0WAVE"s + data("\2\0\0\0"s, "cd")),
            "ab|cd");
}

TEST(ReadWav, MissesTheSamplesOrTheirFormat) {
  const char* const message = "The file is damaged or cut off: it has no chunk of samples.";
  EXPECT_EQ(samples_of(""), message);
  EXPECT_EQ(samples_of(kFormat), message);
  EXPECT_EQ(samples_of("LIST\xff\xff\xff\xff"s + data("\2\0\0\0"s, "xy")), message);
  EXPECT_EQ(samples_of("data\2\0\0\0xy"s),
            "The file is damaged: it has samples, but no format before them.");
}

}  // namespace
}  // namespace tokamak
