#include "generate/sample/stop.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The text for a reader when `text` arrives in pieces of `piece_bytes`; `|stop` when one matched.
std::string stream(StopMatcher matcher, std::string_view text, size_t piece_bytes) {
  std::string seen;
  for (size_t at = 0; at < text.size(); at += piece_bytes) {
    seen += matcher.push(text.substr(at, piece_bytes));
  }
  seen += matcher.finish();
  return matcher.stopped() ? seen + "|" + std::string(*matcher.matched()) : seen;
}

TEST(StopMatcher, PassesEverythingOnWithoutStops) {
  StopMatcher none;
  EXPECT_EQ(none.push("abc"), "abc");
  EXPECT_EQ(none.finish(), "");
  StopMatcher empty({""});
  EXPECT_EQ(empty.push("abc"), "abc");
  EXPECT_FALSE(empty.stopped());
  EXPECT_EQ(empty.matched(), std::nullopt);
}

TEST(StopMatcher, CutsBeforeTheStopAndDropsTheRest) {
  StopMatcher matcher({"END"});
  EXPECT_EQ(matcher.push("one END two"), "one ");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.matched(), "END");
  EXPECT_EQ(matcher.push("three"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, WithholdsOnlyWhatMayBecomeAStop) {
  StopMatcher matcher({"<end>"});
  EXPECT_EQ(matcher.push("a <e"), "a ");
  EXPECT_EQ(matcher.push("n"), "");
  EXPECT_EQ(matcher.push("x <"), "<enx ");
  EXPECT_EQ(matcher.push("<end"), "<");
  EXPECT_EQ(matcher.finish(), "<end");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, RestartsInsideAFailedMatch) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.push("aa"), "");
  EXPECT_EQ(matcher.push("a"), "a");
  EXPECT_EQ(matcher.push("b"), "");
  EXPECT_EQ(matcher.matched(), "aab");
}

TEST(StopMatcher, TheStopThatIsCompleteFirstWins) {
  EXPECT_EQ(stream(StopMatcher({"abcd", "bc"}), "xabcd", 5), "xa|bc");
  EXPECT_EQ(stream(StopMatcher({"late", "early"}), "an early, late", 14), "an |early");
}

TEST(StopMatcher, TheLongerOfTwoThatEndTogetherWins) {
  EXPECT_EQ(stream(StopMatcher({"c", "abc", "bc"}), "xabc", 4), "x|abc");
  EXPECT_EQ(stream(StopMatcher({"abc", "bc", "c"}), "xabc", 4), "x|abc");
}

TEST(StopMatcher, PiecesMakeNoDifference) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"\n\nUser:", "\n\n\n"}, "Hello\n\nUs er\n\n\nx"},
      {{"abab", "bb"}, "abaabababbb"},
      {{"é!", "</s>"}, "caf\xc3\xa8 <caf\xc3\xa9</scaf\xc3\xa9!"},
      {{"never"}, "nevenevneve"},
  };
  for (const auto& [stops, text] : cases) {
    const std::string whole = stream(StopMatcher(stops), text, text.size());
    for (size_t piece = 1; piece < text.size(); ++piece) {
      EXPECT_EQ(stream(StopMatcher(stops), text, piece), whole) << text << " by " << piece;
    }
  }
}

TEST(StopMatcher, NeverShowsTheStartOfAStop) {
  StopMatcher matcher({"stop"});
  std::string seen;
  for (const char c : std::string_view("to stop")) seen += matcher.push({&c, 1});
  EXPECT_EQ(seen, "to ");
  EXPECT_EQ(matcher.matched(), "stop");
}

}  // namespace
}  // namespace tokamak
