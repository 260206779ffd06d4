#include "talk/spoken_answer.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

constexpr uint32_t kRate = 1000;

TEST(SpokenAnswer, HasBeenHeardAsFarAsItsSound) {
  SpokenAnswer answer(kRate);
  answer.write("It was late.\nThe fox slept well.");
  answer.say(1, "It was late.", 400);
  answer.say(1, "It was late.", 800);
  answer.say(2, "The fox slept well.", 1900);
  EXPECT_EQ(answer.heard(0), "");
  EXPECT_EQ(answer.heard(100), "") << "no word of it";
  EXPECT_EQ(answer.heard(300), "It");
  EXPECT_EQ(answer.heard(1199), "It was");
  EXPECT_EQ(answer.heard(1200), "It was late.");
  EXPECT_EQ(answer.heard(1250), "It was late.");
  answer.end();
  EXPECT_EQ(answer.heard(1200 + 700), "It was late. The fox");
  EXPECT_EQ(answer.heard(3100), "It was late.\nThe fox slept well.") << "the text as it is";
}

TEST(SpokenAnswer, EstimatesWhereASoundWillEnd) {
  SpokenAnswer answer(kRate);
  answer.say(1, "One two three four five six", 300);
  EXPECT_EQ(answer.heard(300), "One") << "four or five letters of 27";
  answer.say(1, "One two three four five six", 3700);
  EXPECT_EQ(answer.heard(3000), "One two three four") << "it takes longer than was thought";
}

TEST(SpokenAnswer, MayBeHeardToTheEndOfWhatThereIs) {
  SpokenAnswer answer(kRate);
  answer.write("Yes. No.");
  answer.say(1, "Yes.", 500);
  EXPECT_EQ(answer.heard(500), "Yes.");
  EXPECT_FALSE(answer.has_ended());
  EXPECT_EQ(answer.samples(), 500u);
}

}  // namespace
}  // namespace tokamak
