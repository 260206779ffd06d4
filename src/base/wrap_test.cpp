#include "base/wrap.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

using Lines = std::vector<std::string>;

TEST(Wrap, BreaksLinesAtSpacesAndWordsNowhere) {
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one /a/long/path two", 7), (Lines{"one", "/a/long/path", "two"}));
  EXPECT_EQ(wrapped("", 7), Lines{""});
}

TEST(Wrap, CountsCharactersAndNotBytes) {
  EXPECT_EQ(columns_of("1.5 ± 0.1"), 9u);
  EXPECT_EQ(wrapped("1.5 ± 0.1", 9), Lines{"1.5 ± 0.1"});
}

TEST(Wrap, ShortensTheMiddleOfAWord) {
  EXPECT_EQ(shortened("weight", 6), "weight");
  EXPECT_EQ(shortened("model.layers.0.weight", 12), "model...ight");
  EXPECT_EQ(shortened("äöüäöüäöü", 5), "ä...ü");
}

}  // namespace
}  // namespace tokamak
