#include "speech/sentences.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/utf8.h"

namespace tokamak {
namespace {

using Pieces = std::vector<std::string>;

/// At once, or at most `step` bytes at a time, in whole characters.
Pieces pieces(std::string_view text, const PieceLimits& limits = {}, size_t step = 0) {
  SentencePieces cut(limits);
  Pieces out;
  if (step == 0) cut.add(std::exchange(text, ""));
  while (!text.empty()) {
    const std::string_view bit = utf8_prefix(text, step);
    cut.add(bit);
    text.remove_prefix(bit.size());
    while (auto piece = cut.next(false)) out.push_back(*piece);
  }
  while (auto piece = cut.next(true)) out.push_back(*piece);
  return out;
}

/// So short that no two sentences are one piece.
constexpr PieceLimits kEach = {.first = 60, .others = 30};

TEST(SentencePieces, AreOneSentenceAndThenSeveral) {
  EXPECT_EQ(pieces("Good morning. It is nine. The sun is up! Is it?"),
            (Pieces{"Good morning.", "It is nine. The sun is up! Is it?"}));
  EXPECT_EQ(pieces("No mark at the end"), (Pieces{"No mark at the end"}));
  EXPECT_EQ(pieces(" \n "), Pieces());
  EXPECT_EQ(pieces("* * *\n\nAfter the stars. ---"), (Pieces{"After the stars."}));
}

TEST(SentencePieces, EndWithTheQuotationThatTheyEndIn) {
  EXPECT_EQ(
      pieces("\"Come here!\" \"Why?!\" (They went.) Then nothing happened for long.", kEach),
      (Pieces{"\"Come here!\"", "\"Why?!\" (They went.)", "Then nothing happened for", "long."}));
  EXPECT_EQ(pieces("\"Why?\" he asked. So it went on.", kEach),
            (Pieces{"\"Why?\" he asked.", "So it went on."}));
}

TEST(SentencePieces, DoNotEndWithinNumbersAndAbbreviations) {
  EXPECT_EQ(pieces("It costs 3.14 at 10:30. Dr. J. Smith pays.", kEach),
            (Pieces{"It costs 3.14 at 10:30.", "Dr. J. Smith pays."}));
  EXPECT_EQ(pieces("See e.g. Fig. 3 vs. Fig. 4. Done.", kEach),
            (Pieces{"See e.g. Fig. 3 vs. Fig. 4.", "Done."}));
  EXPECT_EQ(pieces("Das gilt z. B. hier bzw. ca. 5 Mal. Gut.", kEach),
            (Pieces{"Das gilt z. B. hier bzw. ca. 5 Mal.", "Gut."}));
  EXPECT_EQ(pieces("1. Open the door. It was 1990. Then it rained.", kEach),
            (Pieces{"1. Open the door.", "It was 1990. Then it rained."}));
  EXPECT_EQ(pieces("Wait... what? Yes… Maybe.", kEach), (Pieces{"Wait... what?", "Yes… Maybe."}));
}

TEST(SentencePieces, RecognizeTheMarksOfOtherScripts) {
  EXPECT_EQ(pieces("今日はいい天気です。散歩に行きましょう！はい。", {.first = 60, .others = 12}),
            (Pieces{"今日はいい天気です。", "散歩に行きましょう！", "はい。"}));
  EXPECT_EQ(pieces("「行こう。」と言った。", {.first = 60, .others = 60}),
            (Pieces{"「行こう。」", "と言った。"}));
  EXPECT_EQ(pieces("كيف حالك؟ أنا بخير.", kEach), (Pieces{"كيف حالك؟", "أنا بخير."}));
}

TEST(SentencePieces, EndAtClausesOrSpacesWhereSentencesAreLong) {
  constexpr PieceLimits kShort = {.first = 20, .others = 20};
  EXPECT_EQ(pieces("One, two and three, four and five and six.", kShort),
            (Pieces{"One, two and three,", "four and five and", "six."}));
  EXPECT_EQ(pieces("Oh, withoutanyfurthermark.", kShort),
            (Pieces{"Oh,", "withoutanyfurthermar", "k."}));
  EXPECT_EQ(pieces("東京、大阪、京都、名古屋", {.first = 6, .others = 6}),
            (Pieces{"東京、大阪、", "京都、名古屋"}));
}

TEST(SentencePieces, EndWithTheirParagraph) {
  EXPECT_EQ(pieces("A title\n\nThe text goes\non here.\r\n\r\nAnd here."),
            (Pieces{"A title", "The text goes on here.", "And here."}));
}

TEST(SentencePieces, HaveNoMoreCharactersThanAllowed) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "wörter über wörter ";
  for (const std::string& piece : pieces(text)) {
    size_t characters = 0;
    for (const char c : piece) characters += (uint8_t(c) & 0xc0) != 0x80;
    EXPECT_LE(characters, 200u);
    EXPECT_GT(characters, 30u);
  }
}

TEST(SentencePieces, AreTheSameWhenTheTextComesBitByBit) {
  const std::string_view text =
      "Dr. Who said: \"It is 3.5 m long!\" Then… nothing. 今日は。 A very long sentence follows, "
      "in "
      "which there are many words, some of them short; others, however, are of a length that is "
      "remarkable, and which do not end before they have reached the limit.\n\nThe end.";
  constexpr PieceLimits kOne = {.first = 60, .others = 1000};
  SentencePieces cut(kOne);
  EXPECT_EQ(cut.next(false), std::nullopt);
  cut.add("Hello there. ");
  EXPECT_EQ(cut.next(false), std::nullopt) << "a small letter may follow";
  cut.add("It");
  EXPECT_EQ(cut.next(false), "Hello there.");
  EXPECT_EQ(cut.next(false), std::nullopt);
  EXPECT_EQ(cut.next(true), "It");
  EXPECT_EQ(cut.next(true), std::nullopt);
  std::string joined, whole;
  for (const std::string& piece : pieces(text, {}, 7)) joined += piece + " ";
  for (const std::string& piece : pieces(text)) whole += piece + " ";
  EXPECT_EQ(joined, whole);
}

}  // namespace
}  // namespace tokamak
