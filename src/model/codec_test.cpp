#include "model/codec.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The codec with 12.5 frames a second.
CodecModel published() {
  CodecModel model{.stages = {},
                   .sample_rate = 22050,
                   .samples_per_frame = 7 * 7 * 6 * 3 * 2,
                   .groups = 4,
                   .levels = {9, 8, 8, 7}};
  const uint32_t rates[] = {7, 7, 6, 3, 2, 1};
  for (size_t i = 0; i < 6; ++i) {
    const uint32_t reach = i == 0 ? 7 : i == 5 ? 122 : 121;
    model.stages.push_back({.graph = {}, .rate = rates[i], .reach = reach});
  }
  return model;
}

TEST(CodecModel, CodesAreNumbersOfTheirLevels) {
  const CodecModel model = published();
  EXPECT_EQ(model.codes_per_group(), 4032u);
  // 8 + 9 * (7 + 8 * (7 + 8 * 6)) is the largest; halves are 4, 4, 4 and 3.
  const auto latents = model.latents(std::vector<uint32_t>{0, 4031, 1, 9});
  ASSERT_TRUE(latents);
  EXPECT_EQ(*latents, (std::vector<float>{-1, -1, -1, -1, 1, 0.75f, 0.75f, 1,  //
                                          -0.75f, -1, -1, -1, -1, -0.75f, -1, -1}));
}

TEST(CodecModel, RefusesACodeThatIsNone) {
  const auto latents = published().latents(std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 4032, 3});
  ASSERT_FALSE(latents);
  EXPECT_EQ(latents.error().message,
            "Group 2 of frame 1 has the code 4032, expected one below 4032.");
}

TEST(CodecModel, LaterStagesNeedFewerFramesOfContext) {
  const CodecModel model = published();
  EXPECT_EQ(model.context_frames(), 28u);
  const std::vector<RowSpan> rows = model.rows_for(28, 29);
  const std::vector<RowSpan> expected = {{0, 29},
                                         {28 * 7 - 143, 29 * 7},
                                         {28 * 49 - 152, 29 * 49},
                                         {28 * 294 - 182, 29 * 294},
                                         {28 * 882 - 182, 29 * 882},
                                         {28 * 1764 - 122, 29 * 1764}};
  EXPECT_EQ(rows, expected);
}

TEST(CodecModel, NothingIsBeforeTheBeginning) {
  for (const RowSpan& span : published().rows_for(0, 2)) EXPECT_EQ(span.first, 0u);
  const std::vector<RowSpan> rows = published().rows_for(1, 2);
  EXPECT_EQ(rows.front(), (RowSpan{0, 2}));
  EXPECT_EQ(rows[1], (RowSpan{0, 14})) << "as far as there is something";
  EXPECT_EQ(rows.back(), (RowSpan{1764 - 122, 2 * 1764}));
}

}  // namespace
}  // namespace tokamak
