#include "text/tokenizer/middle_prompt.h"

#include <gtest/gtest.h>

#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

using Ids = std::vector<uint32_t>;

/// Letters a and b as 0 and 1, then the added tokens.
Tokenizer tokenizer_with(std::span<const std::string_view> added, std::string_view more = "") {
  std::string tokens;
  for (size_t i = 0; i < added.size(); ++i) {
    tokens += fmt::format(R"({}{{"id": {}, "content": "{}", "special": true}})", i == 0 ? "" : ", ",
                          i + 2, added[i]);
  }
  auto tokenizer = Tokenizer::from_json(fmt::format(
      R"({{"model": {{"type": "BPE", "vocab": {{"a": 0, "b": 1}}, "merges": []}},
           "added_tokens": [{}]{}}})",
      tokens, more));
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return *std::move(tokenizer);
}

TEST(MiddlePrompt, HasTheTextAfterTheGapBeforeWhatIsGenerated) {
  constexpr std::string_view kAdded[] = {"<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
                                         "<|fim_pad|>", "<s>"};
  const auto found = middle_prompt(tokenizer_with(kAdded), "ab", "b");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->ids, (Ids{2, 0, 1, 4, 1, 3}));
  EXPECT_EQ(found->end_ids, Ids{5});
}

TEST(MiddlePrompt, BeginsAsEveryTextOfTheModel) {
  constexpr std::string_view kAdded[] = {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>",
                                         "<s>"};
  const auto tokenizer =
      tokenizer_with(kAdded, R"(, "post_processor": {"type": "TemplateProcessing",
                  "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                             {"Sequence": {"id": "A", "type_id": 0}}],
                  "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [5],
                                                         "tokens": ["<s>"]}}})");
  const auto found = middle_prompt(tokenizer, "a", "");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->ids, (Ids{5, 2, 0, 3, 4}));
}

TEST(MiddlePrompt, WithoutATokenForTheGapEndsWithTheTextBeforeIt) {
  constexpr std::string_view kAdded[] = {"[PREFIX]", "[SUFFIX]"};
  const auto found = middle_prompt(tokenizer_with(kAdded), "a", "bb");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->ids, (Ids{3, 1, 1, 2, 0}));
}

TEST(MiddlePrompt, NamesWhatATokenizerLacks) {
  constexpr std::string_view kAdded[] = {"<|fim_prefix|>", "<|fim_suffix|>"};
  const auto found = middle_prompt(tokenizer_with(kAdded), "a", "b");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "The model cannot fill a gap between two texts: its tokenizer has no tokens for that, "
            "such as <|fim_prefix|> and <|fim_suffix|>.");
}

}  // namespace
}  // namespace tokamak
