#include "vision/words_of_rows.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

std::string shown(const std::vector<WordsOfRows>& parts) {
  std::string out;
  for (const auto& [before, rows] : parts) out += before + std::to_string(rows) + " ";
  return out;
}

VisionTower with_squares() {
  VisionTower tower = {.max_patches = 16, .side = 2};
  tower.parts = Tiles{.longest = 64,
                      .splits = true,
                      .most = 7,
                      .tile = "<{row},{column}>",
                      .line = "/",
                      .whole = "<all>",
                      .end = "<end>"};
  return tower;
}

TEST(WordsOfRows, NameSquaresByTheirPlaceAndEndTheirLines) {
  EXPECT_EQ(shown(words_of_rows(with_squares(), {7, 4, 1}, {.rows = 2, .columns = 3})),
            "<1,1>4 <1,2>4 <1,3>4 /<2,1>4 <2,2>4 <2,3>4 //<all>4 <end>0 ");
}

TEST(WordsOfRows, HaveTheWholeAloneWhereAnImageIsOneSquare) {
  EXPECT_EQ(shown(words_of_rows(with_squares(), {1, 4, 1}, {.rows = 1, .columns = 1})),
            "<all>4 <end>0 ");
}

TEST(WordsOfRows, EndTheLinesOfAnImage) {
  VisionTower tower;
  tower.parts = LineMarks{.longest = 64, .line = "<break>", .end = "<end>"};
  EXPECT_EQ(shown(words_of_rows(tower, {3, 2, 1}, {.rows = 1, .columns = 1})),
            "2 <break>2 <break>2 <end>0 ");
}

TEST(WordsOfRows, AreNoneWhereAModelHasNone) {
  EXPECT_TRUE(words_of_rows({}, {3, 2, 1}, {.rows = 1, .columns = 1}).empty());
}

}  // namespace
}  // namespace tokamak
