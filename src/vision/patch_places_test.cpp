#include "vision/patch_places.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

TEST(PatchGrid, HasTheSquaresOfOneRowAsNeighbours) {
  const PatchGrid grid = {4, 6, 2};
  const auto expect_place = [&](uint32_t i, uint32_t row, uint32_t column) {
    EXPECT_EQ(grid.place(i).row, row) << i;
    EXPECT_EQ(grid.place(i).column, column) << i;
  };
  expect_place(0, 0, 0);
  expect_place(1, 0, 1);
  expect_place(2, 1, 0);
  expect_place(5, 0, 3);
  expect_place(12, 2, 0);
  expect_place(23, 3, 5);
}

TEST(MixedPositions, AreTheTableForItsOwnGrid) {
  const std::vector<float> table = {1, 2, 3, 4};
  EXPECT_EQ(mixed_positions(table, 1, {2, 2, 1}), table);
}

TEST(MixedPositions, MixFourNeighboursAndKeepTheCorners) {
  const std::vector<float> table = {0, 2, 10, 12};
  EXPECT_EQ(mixed_positions(table, 1, {3, 3, 1}),
            (std::vector<float>{0, 1, 2, 5, 6, 7, 10, 11, 12}));
  EXPECT_EQ(mixed_positions(table, 1, {1, 2, 1}), (std::vector<float>{0, 2}));
}

TEST(AddedPositions, TakeOneRowForTheColumnAndOneForTheRow) {
  const std::vector<float> table = {1, 2, 3, 10, 20, 30};
  EXPECT_EQ(added_positions(table, 1, {2, 3, 1}), (std::vector<float>{11, 12, 13, 21, 22, 23}));
  EXPECT_EQ(added_positions(table, 1, {1, 4, 1}).back(), 13) << "beyond the table: its last";
}

TEST(GridAngles, MayHaveTheColumnFirst) {
  const auto angles = grid_angles({.columns_first = true}, 8, {1, 2, 1});
  EXPECT_FLOAT_EQ(angles[8], std::cos(1.0f));
  EXPECT_FLOAT_EQ(angles[10], 1);
}

TEST(GridAngles, TurnHalfByTheRowAndHalfByTheColumn) {
  const auto angles = grid_angles({}, 8, {1, 2, 1});
  // The patch in column 1: frequencies 1 and 1/100, first those of the row.
  const std::vector<float> expected = {1, 1, std::cos(1.0f), std::cos(0.01f),
                                       0, 0, std::sin(1.0f), std::sin(0.01f)};
  for (size_t i = 0; i < 8; ++i) EXPECT_FLOAT_EQ(angles[8 + i], expected[i]) << i;
}

/// Rows of a tower 3 x 5, in windows of 2 x 2: smaller ones at the right and below.
TEST(Windows, HaveTheirRowsTogether) {
  const PatchGrid grid = {6, 10, 2};
  EXPECT_EQ(window_order(grid, 2),
            (std::vector<uint32_t>{0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14}));
  const std::vector<uint32_t> spans = window_spans(grid, 2);
  ASSERT_EQ(spans.size(), 2u * 60);
  EXPECT_EQ(std::vector(spans.begin() + 30, spans.begin() + 34),
            (std::vector<uint32_t>{0, 16, 16, 32}));
  EXPECT_EQ(std::vector(spans.begin() + 64, spans.begin() + 66), (std::vector<uint32_t>{32, 40}));
  EXPECT_EQ(spans.back(), 60u);
}

TEST(Windows, MoveEqualPartsThereAndBack) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<uint32_t> order = {2, 0, 1};
  const std::vector<float> moved = reordered(values, order);
  EXPECT_EQ(moved, (std::vector<float>{5, 6, 1, 2, 3, 4}));
  EXPECT_EQ(reordered(moved, order, true), values);
}

TEST(WriteAngles, TakeFrequenciesInSections) {
  const ImageAngles angles = {{{1, 1, 1, 1, 1}, 1.0f}, 2, 1, false};
  std::vector<float> out(10);
  write_angles(angles, {1, 2, 3}, out);
  const std::vector<float> turns = {1, 1, 2, 2, 3};
  for (size_t i = 0; i < turns.size(); ++i) EXPECT_FLOAT_EQ(out[i], std::cos(turns[i])) << i;
}

TEST(WriteAngles, TakeEachFrequencyFromItsAxis) {
  const ImageAngles angles = {.rope = {{1, 1, 1, 1, 1, 1}}, .rows = 1, .columns = 2};
  std::vector<float> out(12);
  write_angles(angles, {10, 20, 30}, out);
  const float axes[] = {10, 20, 30, 10, 10, 30};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_FLOAT_EQ(out[i], std::cos(axes[i])) << i;
    EXPECT_FLOAT_EQ(out[6 + i], std::sin(axes[i])) << i;
  }
}

}  // namespace
}  // namespace tokamak
