#include "talk/endpointer.h"

#include <gtest/gtest.h>

#include "talk/sounds_test.h"

namespace tokamak {
namespace {

/// The lengths of all utterances, in seconds.
std::vector<double> utterances(const Samples& sound, size_t step, const EndpointOptions& options) {
  Endpointer endpointer(options);
  std::vector<double> out;
  for (size_t at = 0; at < sound.size(); at += step) {
    endpointer.add(std::span(sound).subspan(at, std::min(step, sound.size() - at)));
    if (const auto one = endpointer.take()) out.push_back(seconds_of(one->size()));
  }
  return out;
}

TEST(Endpointer, CutsAtPausesWithALittleSilenceAround) {
  const Samples sound =
      joined({silence(1), voice(1), silence(0.5), voice(1), silence(1), voice(0.5), silence(0.8)});
  // 0.3 s before, 0.2 s after; the pause of half a second is in the middle of the first one.
  const std::vector<double> expected = {3, 1};
  EXPECT_EQ(utterances(sound, 320, {}), expected);
  EXPECT_EQ(utterances(sound, 1000, {}), expected) << "in whatever steps it comes";
  EXPECT_EQ(utterances(sound, 7, {}), expected);
}

TEST(Endpointer, LeavesOutClicks) {
  const Samples click = joined({voice(0.06), silence(1)});
  EXPECT_TRUE(utterances(joined({click, click, click}), 320, {}).empty());
  const Samples rattle = joined({voice(0.02), silence(0.02)});
  EXPECT_TRUE(utterances(joined({rattle, rattle, rattle, rattle, silence(1)}), 320, {}).empty());
}

TEST(Endpointer, CutsWhatIsTooLong) {
  Endpointer endpointer({.max_seconds = 2});
  endpointer.add(voice(1.9));
  EXPECT_FALSE(endpointer.take());
  endpointer.add(voice(0.2));
  ASSERT_TRUE(endpointer.take());
  EXPECT_FALSE(endpointer.take()) << "once";
}

TEST(Endpointer, ReportsThatSomebodySpeaks) {
  Endpointer endpointer;
  endpointer.add(voice(0.08));
  EXPECT_FALSE(endpointer.is_in_utterance());
  endpointer.add(voice(0.12));
  EXPECT_TRUE(endpointer.is_in_utterance());
  EXPECT_DOUBLE_EQ(endpointer.voiced_seconds(), 0.2);
  endpointer.forget();
  EXPECT_FALSE(endpointer.is_in_utterance());
  endpointer.add(silence(2));
  EXPECT_FALSE(endpointer.take());
}

}  // namespace
}  // namespace tokamak
