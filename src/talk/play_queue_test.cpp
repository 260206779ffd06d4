#include "talk/play_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace tokamak {
namespace {

std::vector<float> take(PlayQueue& queue, size_t count) {
  std::vector<float> out(count, 9.0f);
  queue.take(out);
  return out;
}

TEST(PlayQueue, GivesWhatWaitsAndThenSilence) {
  PlayQueue queue(1000);
  queue.add(std::vector<float>{1, 2, 3});
  EXPECT_EQ(take(queue, 2), (std::vector<float>{1, 2}));
  EXPECT_EQ(queue.played(), 2u);
  EXPECT_EQ(take(queue, 3), (std::vector<float>{3, 0, 0}));
  EXPECT_EQ(queue.played(), 3u) << "silence is not counted";
  EXPECT_TRUE(queue.is_empty());
}

TEST(PlayQueue, FadesWhenItIsStopped) {
  PlayQueue queue(1000);  // 5 samples are 5 ms
  queue.add(std::vector<float>(100, 0.6f));
  take(queue, 10);
  queue.stop();
  EXPECT_EQ(queue.played(), 0u);
  queue.add(std::vector<float>{1});
  const std::vector<float> rest = take(queue, 7);
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(rest[i], 0.6 * double(5 - i) / 6, 1e-6) << i;
  EXPECT_EQ(rest[5], 1.0f);
  EXPECT_EQ(rest[6], 0.0f);
  EXPECT_EQ(queue.played(), 1u) << "what fades is not counted";
}

TEST(PlayQueue, StopsWithinAFade) {
  PlayQueue queue(1000);
  queue.add(std::vector<float>(100, 0.6f));
  queue.stop();
  queue.stop();
  EXPECT_NEAR(take(queue, 1)[0], 0.5, 1e-6) << "faded once";
  EXPECT_EQ(take(queue, 5)[4], 0.0f);
}

}  // namespace
}  // namespace tokamak
