#include "text/tokenizer/gguf_roles.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

constexpr int32_t kNormal = 1, kControl = 3, kUserDefined = 4;
using Ids = std::vector<uint32_t>;

GgufVocab vocab_of(std::string model, std::vector<std::pair<std::string, int32_t>> tokens) {
  GgufVocab vocab;
  vocab.model = std::move(model);
  for (auto& [text, type] : tokens) {
    vocab.tokens.push_back(std::move(text));
    vocab.token_types.push_back(type);
  }
  return vocab;
}

TEST(GgufEnds, AreKnownByTheirTextsInEveryFamily) {
  for (const char* text : {"<end_of_turn>",
                           "<turn|>",
                           "<|tool_response>",
                           "<|end_of_text|>",
                           "<|endoftext|>",
                           "<|end|>",
                           "<|eom_id|>",
                           "<|eot_id|>",
                           "<|eom|>",
                           "<|eot|>",
                           "<|im_end|>",
                           "<|return|>",
                           "<|call|>",
                           "<|observation|>",
                           "<|END_OF_TURN_TOKEN|>",
                           "<|calls|>",
                           "<|flush|>",
                           "<end_of_utterance>",
                           "<EOT>",
                           "_<EOT>",
                           "\u2581<EOT>",
                           "[EOT]"}) {
    EXPECT_EQ(gguf_end_ids(vocab_of("gpt2", {{"a", kNormal}, {text, kControl}})), Ids{1}) << text;
    EXPECT_EQ(gguf_end_ids(vocab_of("gpt2", {{"a", kNormal}, {text, kUserDefined}})), Ids{1})
        << text;
    EXPECT_EQ(gguf_end_ids(vocab_of("gpt2", {{text, kNormal}})), Ids{}) << text;
  }
  for (const char* text : {"[EOS]", "<eos>", "</s>"}) {
    EXPECT_EQ(gguf_end_ids(vocab_of("gpt2", {{text, kControl}})), Ids{0}) << text;
    EXPECT_EQ(gguf_end_ids(vocab_of("gpt2", {{text, kUserDefined}})), Ids{}) << text;
  }
  EXPECT_EQ(gguf_end_ids(vocab_of("gpt2", {{"</s >", kUserDefined}, {"<bos>", kControl}})), Ids{});
}

TEST(GgufEnds, LeaveOutWhatOtherEndsShowToBeNone) {
  const auto ends = [](std::vector<std::pair<std::string, int32_t>> tokens) {
    return gguf_end_ids(vocab_of("gpt2", std::move(tokens)));
  };
  EXPECT_EQ(ends({{"<|end|>", kControl}, {"<|return|>", kControl}, {"<|call|>", kControl}}),
            (Ids{1, 2}));
  EXPECT_EQ(ends({{"<|end|>", kControl}, {"<|flush|>", kControl}, {"<|calls|>", kControl}}),
            (Ids{1, 2}));
  EXPECT_EQ(ends({{"<|end|>", kControl}, {"<|return|>", kControl}}), (Ids{0, 1}));
  EXPECT_EQ(ends({{"</s>", kControl}, {"<|tool_response>", kUserDefined}}), Ids{1});
}

TEST(GgufEnds, BeginWithThoseTheFileNames) {
  GgufVocab vocab = vocab_of("gpt2", {{"<|im_end|>", kControl}, {"a", kNormal}, {"b", kNormal}});
  vocab.eos = 2;
  vocab.eot = 0;
  vocab.eom = 7;  // beyond
  vocab.more_ends = {2, 1, 9};
  EXPECT_EQ(gguf_end_ids(vocab), (Ids{2, 0, 1}));
}

TEST(GgufRoles, FallBackToTheDefaultsOfTheirKind) {
  GgufVocab vocab = vocab_of("llama", {{"<unk>", 2}, {"<s>", 3}, {"</s>", 3}, {"a", kNormal}});
  vocab.eos = 32000;
  vocab.pad = 4;
  vocab.more_ends = {32000, 3};
  EXPECT_EQ(settle_roles(vocab),
            (std::vector<std::string>{
                "\"tokenizer.ggml.eos_token_id\" is 32000, but the vocabulary has 4 tokens; 2 is "
                "used instead.",
                "\"tokenizer.ggml.padding_token_id\" is 4, but the vocabulary has 4 tokens; it is "
                "ignored."}));
  EXPECT_EQ(vocab.unk, 0u);
  EXPECT_EQ(vocab.bos, 1u);
  EXPECT_EQ(vocab.eos, 2u);
  EXPECT_EQ(vocab.pad, std::nullopt);
  EXPECT_EQ(vocab.more_ends, Ids{3});
  EXPECT_TRUE(settle_roles(vocab).empty());
  GgufVocab other = vocab_of("gpt2", {{"a", kNormal}, {"b", kNormal}, {"c", kNormal}});
  settle_roles(other);
  EXPECT_EQ(other.bos, std::nullopt);
  GgufVocab small = vocab_of("llama", {{"a", kNormal}});
  settle_roles(small);
  EXPECT_EQ(small.eos, std::nullopt) << "there is no token 2";
}

}  // namespace
}  // namespace tokamak
