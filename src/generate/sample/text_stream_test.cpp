#include "generate/sample/text_stream.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer made = *Tokenizer::from_json(
      R"({"model": {"type": "BPE", "merges": [], "vocab": {"a": 0, "b": 1}},
          "decoder": {"type": "ByteLevel"}, "added_tokens": []})");
  return made;
}

Generation generated(const GenerationParams& params) {
  GrammarCache grammars;
  const GenerationCallbacks callbacks;
  TextStream stream(&tokenizer(), params, callbacks, grammars);
  for (const uint32_t id : {0u, 1u, 0u}) {
    if (!stream.take(id, nullptr)) break;
  }
  stream.finish();
  return stream.generation();
}

TEST(TextStream, MakesNoTextForWhoMakesHisOwn) {
  EXPECT_EQ(generated({.max_tokens = 3}).text, "aba");
  const Generation bare = generated({.max_tokens = 3, .has_text = false});
  EXPECT_EQ(bare.text, "");
  EXPECT_EQ(bare.ids, (std::vector<uint32_t>{0, 1, 0}));
  EXPECT_EQ(bare.finish, FinishReason::kMaxTokens);
}

TEST(TextStream, EndsAtStopStrings) {
  GenerationParams params{.max_tokens = 3};
  params.stop = {"b"};
  const Generation stopped = generated(params);
  EXPECT_EQ(stopped.text, "a");
  EXPECT_EQ(stopped.finish, FinishReason::kStopString);
}

}  // namespace
}  // namespace tokamak
