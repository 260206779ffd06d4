#include "audio/whole.h"

#include <gtest/gtest.h>

#include <string>

namespace tokamak {
namespace {

using namespace std::string_literals;

std::string wav_error(const std::string& chunks) {
  const std::string file = "RIFF....WAVE" + chunks;
  const auto status = check_whole_wav(std::as_bytes(std::span(file)));
  return status ? "" : status.error().message;
}

TEST(WholeWav, PassesOverOtherChunksAndTheirPadding) {
  EXPECT_EQ(wav_error("LIST\3\0\0\0abc.data\2\0\0\0xy"s), "");
  EXPECT_EQ(wav_error("LIST\3\0\0\0abc.data\3\0\0\0xy"s),
            "The file is cut off: its header says 3 bytes of samples, but 2 follow.");
}

TEST(WholeWav, MissesTheSamples) {
  const char* const message = "The file is damaged or cut off: it has no chunk of samples.";
  EXPECT_EQ(wav_error(""), message);
  EXPECT_EQ(wav_error("fmt \2\0\0\0xy"s), message);
  EXPECT_EQ(wav_error("fmt \xff\xff\xff\xff"
                      "data\2\0\0\0xy"s),
            message);
}

std::string page(const std::string& lengths, const std::string& content) {
  return "OggS"s + std::string(22, 0) + char(lengths.size()) + lengths + content;
}

std::string ogg_error(const std::string& file) {
  const auto status = check_whole_ogg(std::as_bytes(std::span(file)));
  return status ? "" : status.error().message;
}

TEST(WholeOgg, LooksAtTheLastPage) {
  const std::string first = page("\2", "ab");
  EXPECT_EQ(ogg_error(first + page("\1\2", "abc")), "");
  EXPECT_EQ(ogg_error(first + page("\1\2", "ab")),
            "The file is cut off: its last page has at least 32 bytes, but 31 follow.");
  EXPECT_EQ(ogg_error(first + page("\1\2", "").substr(0, 20)),
            "The file is cut off: its last page has at least 27 bytes, but 20 follow.");
  EXPECT_EQ(ogg_error(first + page("\1\2", "").substr(0, 28)),
            "The file is cut off: its last page has at least 29 bytes, but 28 follow.");
}

}  // namespace
}  // namespace tokamak
