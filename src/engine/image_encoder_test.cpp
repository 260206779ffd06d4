#include "engine/image_encoder.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(ImageWords, TakeThePlaceOfTheTemplatesOwn) {
  VisionTower tower;
  tower.template_word = "<|image|>";
  tower.words = "<a><|image|><b>";
  // A message spells the second one, and something else after it.
  const PlainText prompt = {"x<|image|>y<|image|>z<b>", {11, 21}};
  const PlainText written = with_image_words(tower, prompt);
  EXPECT_EQ(written.text, "x<a><|image|><b>y<|image|>z<b>");
  EXPECT_EQ(written.plain_at, (std::vector<size_t>{17, 27}));
  tower.template_word.clear();
  EXPECT_EQ(with_image_words(tower, prompt).text, prompt.text);
}

}  // namespace
}  // namespace tokamak
