#include "speech/transcript_text.h"

#include <gtest/gtest.h>

#include "speech/compression.h"

namespace tokamak {
namespace {

Transcript two() {
  return {.text = "Hello, it is late.",
          .language = "en",
          .seconds = 3725,
          .segments = {{.start = 0.25, .end = 1.5, .text = " Hello,", .ids = {7, 8}},
                       {.start = 3661.0004, .end = 3662.9996, .text = " it is\n\nlate -->. "}}};
}

TEST(TranscriptText, IsPlainOrSubtitles) {
  EXPECT_EQ(transcript_text(two(), TranscriptFormat::kText), "Hello, it is late.\n");
  EXPECT_EQ(transcript_text(two(), TranscriptFormat::kSrt),
            "1\n00:00:00,250 --> 00:00:01,500\nHello,\n\n"
            "2\n01:01:01,000 --> 01:01:03,000\nit is  late ->.\n\n");
  EXPECT_EQ(transcript_text(two(), TranscriptFormat::kVtt),
            "WEBVTT\n\n00:00:00.250 --> 00:00:01.500\nHello,\n\n"
            "01:01:01.000 --> 01:01:03.000\nit is  late ->.\n\n");
  EXPECT_EQ(transcript_text({}, TranscriptFormat::kSrt), "");
}

TEST(TranscriptText, IsJsonAsOpenAiHasIt) {
  const auto json = Json::parse(transcript_text(two(), TranscriptFormat::kJson));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("language")->as_string(), "en");
  EXPECT_EQ(json->find("duration")->as_number(), 3725);
  const Json& first = json->find("segments")->as_array()[0];
  EXPECT_EQ(first.find("start")->as_number(), 0.25);
  EXPECT_EQ(first.find("tokens")->as_array().size(), 2u);
  EXPECT_EQ(first.find("text")->as_string(), " Hello,");
}

TEST(TranscriptText, HasFormatsByName) {
  EXPECT_EQ(transcript_format("vtt"), TranscriptFormat::kVtt);
  EXPECT_EQ(transcript_format("docx"), std::nullopt);
}

TEST(CompressionRatio, IsHighWhereWordsRepeat) {
  std::string again;
  for (int i = 0; i < 40; ++i) again += "thank you. ";
  EXPECT_GT(compression_ratio(again), 10);
  EXPECT_LT(compression_ratio("A quick brown fox jumps over the lazy dog near the river."), 1.3);
  EXPECT_EQ(compression_ratio(""), 0);
}

}  // namespace
}  // namespace tokamak
