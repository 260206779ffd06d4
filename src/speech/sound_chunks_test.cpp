#include "speech/sound_chunks.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// A codec whose samples are the codes, two of each frame, and which notes what it is asked.
struct FakeCodec {
  std::vector<std::pair<size_t, uint32_t>> calls;  // codes, context

  SoundOfCodes part() {
    return {.groups = 2,
            .codes = 100,
            .rate = 20,
            .context_frames = 3,
            .decode = [this](auto codes, uint32_t context) -> Result<std::vector<float>> {
              calls.emplace_back(codes.size(), context);
              codes = codes.subspan(2 * context);
              std::vector<float> samples;
              for (const uint32_t code : codes) samples.push_back(0.125f * float(code));
              return samples;
            }};
  }
};

using Sound = std::vector<float>;

/// The samples of a piece of that many frames, each of the codes 1 and 2.
Sound say(SoundChunks& chunks, size_t frames, std::vector<uint32_t> frame = {1, 2}) {
  Sound out;
  chunks.begin_piece();
  for (size_t i = 0; i <= frames; ++i) {
    const auto samples = i < frames ? chunks.add(frame) : chunks.end_piece();
    EXPECT_TRUE(samples);
    if (samples) out.insert(out.end(), samples->begin(), samples->end());
  }
  return out;
}

TEST(SoundChunks, GrowAndHaveTheFramesBeforeThem) {
  FakeCodec codec;
  SoundChunks chunks(codec.part());
  chunks.begin();
  EXPECT_EQ(say(chunks, 62).size(), 124u);
  using Calls = std::vector<std::pair<size_t, uint32_t>>;
  EXPECT_EQ(codec.calls, (Calls{{10, 0}, {26, 3}, {46, 3}, {56, 3}, {10, 3}}));
  codec.calls.clear();
  say(chunks, 2);
  say(chunks, 26);
  EXPECT_EQ(codec.calls, (Calls{{4, 0}, {50, 0}, {8, 3}})) << "nobody waits any more";
  chunks.begin();
  codec.calls.clear();
  say(chunks, 5);
  EXPECT_EQ(codec.calls, (Calls{{10, 0}}));
}

TEST(SoundChunks, BeginWithTheirSoundAfterAPause) {
  FakeCodec codec;
  SoundChunks chunks(codec.part());
  chunks.begin();
  EXPECT_EQ(say(chunks, 1, {0, 3}), (Sound{0.375f}));
  EXPECT_EQ(say(chunks, 1, {0, 0}), Sound()) << "a piece of silence is none";
  EXPECT_EQ(say(chunks, 1, {0, 4}), (Sound{0, 0, 0.5f}));
  EXPECT_EQ(say(chunks, 1, {5, 0}), (Sound{0, 0, 0.625f, 0})) << "silence within it stays";
  chunks.begin();
  EXPECT_EQ(say(chunks, 1, {0, 6}), (Sound{0.75f}));
}

}  // namespace
}  // namespace tokamak
