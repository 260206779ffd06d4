#include "model/speech.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

SoundStage stage(const Unfold& reads, uint32_t pad_after = 0) {
  return {.graph = {}, .reads = reads, .pad_after = pad_after};
}

TEST(SoundStage, GivesARowWhereItsConvolutionFits) {
  const SoundStage plain = stage({.taps = 7, .stride = 3});
  EXPECT_EQ(plain.rows_of(6), 0u);
  EXPECT_EQ(plain.rows_of(7), 1u);
  EXPECT_EQ(plain.rows_of(9), 1u);
  EXPECT_EQ(plain.rows_of(10), 2u);
  const SoundStage padded = stage({.taps = 3, .stride = 2, .pad = 1}, 1);
  EXPECT_EQ(padded.rows_of(1), 1u);
  EXPECT_EQ(padded.rows_of(3000), 1500u);
}

TEST(SpeechModel, RecognizesTheShortestSoundOfARow) {
  SpeechModel model;
  model.stages = {stage({.taps = 127, .stride = 64}), stage({.taps = 7, .stride = 3}),
                  stage({.taps = 3, .stride = 2})};
  const auto rows_of = [&](uint32_t rows) {
    for (const SoundStage& one : model.stages) rows = one.rows_of(rows);
    return rows;
  };
  EXPECT_EQ(rows_of(model.min_rows()), 1u);
  EXPECT_EQ(rows_of(model.min_rows() - 1), 0u);
  model.stages = {stage({.taps = 5, .stride = 2, .pad = 4})};
  EXPECT_EQ(model.min_rows(), 1u);
}

}  // namespace
}  // namespace tokamak
