#include "text/tokenizer/gguf_vocab.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;

/// The tokens of `text` with "|" between them, or the message of the error.
std::string spelled(const GgufVocab& vocab, std::string_view text, EncodeOptions options = {}) {
  const auto tokenizer = Tokenizer::from_gguf(vocab);
  if (!tokenizer) return tokenizer.error().message;
  const auto ids = tokenizer->encode(text, options);
  if (!ids) return ids.error().message;
  std::string joined;
  for (const uint32_t id : *ids) {
    if (!joined.empty()) joined += '|';
    joined += tokenizer->token(id).value_or("?");
  }
  return joined;
}

std::string decoded(const GgufVocab& vocab, std::string_view text) {
  const auto tokenizer = Tokenizer::from_gguf(vocab);
  if (!tokenizer) return tokenizer.error().message;
  return tokenizer->decode(*tokenizer->encode(text), true);
}

/// A vocabulary with a token for each of the given ones, and its scores and types.
struct Token {
  std::string text;
  float score;
  int32_t type = kNormal;
};
GgufVocab vocab_of(std::string model, const std::vector<Token>& tokens) {
  GgufVocab vocab;
  vocab.model = std::move(model);
  for (const Token& token : tokens) {
    vocab.tokens.push_back(token.text);
    vocab.scores.push_back(token.score);
    vocab.token_types.push_back(token.type);
  }
  return vocab;
}

GgufVocab llama() {
  return vocab_of("llama", {{"<unk>", 0, kUnknown},
                            {"<s>", 0, kControl},
                            {"</s>", 0, kControl},
                            {"<0xC3>", 0, kByte},
                            {"<0xA9>", 0, kByte},
                            {"\u2581", -9},
                            {"a", -9},
                            {"b", -9},
                            {"c", -9},
                            {"ab", -2},
                            {"bc", -1},
                            {"bca", -3},
                            {"aa", -4},
                            {"\u2581a", -5},
                            {"<tool>", 0, kUserDefined},
                            {"cc", -1, kUnused}});
}

GgufVocab gpt2() {
  GgufVocab vocab;
  vocab.model = "gpt2";
  vocab.pre = "gpt-2";
  vocab.tokens = {"a", "b", "1", "2", "\u0120", "ab", "\u0120ab", "12", "<s>", "aab"};
  vocab.token_types = {1, 1, 1, 1, 1, 1, 1, 1, 3, 1};
  vocab.merges = {"a b", "\u0120 ab", "1 2", "a ab"};
  vocab.bos = 8;
  return vocab;
}

TEST(GgufLlama, MergesTheHighestScoreFirst) {
  GgufVocab vocab = llama();
  vocab.add_bos = false;
  vocab.add_space_prefix = false;
  EXPECT_EQ(spelled(vocab, "abca"), "a|bca");
  vocab.scores[9] = 0;
  EXPECT_EQ(spelled(vocab, "abca"), "ab|c|a");
}

TEST(GgufLlama, MergesTheLeftmostOfEqualScores) {
  GgufVocab vocab = llama();
  vocab.add_bos = false;
  vocab.add_space_prefix = false;
  EXPECT_EQ(spelled(vocab, "aaa"), "aa|a");
  vocab.scores[9] = vocab.scores[10];
  EXPECT_EQ(spelled(vocab, "abc"), "ab|c");
  vocab.scores[12] = vocab.scores[9];
  EXPECT_EQ(spelled(vocab, "aab"), "aa|b");  // though "ab" comes first in the vocabulary
}

TEST(GgufLlama, StartsWithBosAndABlankUnlessToldNotTo) {
  GgufVocab vocab = llama();
  EXPECT_EQ(spelled(vocab, "a b"), "<s>|\u2581a|\u2581|b");
  EXPECT_EQ(decoded(vocab, "a b"), "a b");
  vocab.add_space_prefix = false;
  vocab.add_bos = false;
  vocab.add_eos = true;
  EXPECT_EQ(spelled(vocab, "a b"), "a|\u2581|b|</s>");
  EXPECT_EQ(decoded(vocab, " a"), " a");
}

TEST(GgufLlama, FallsBackToBytesAndThenToUnk) {
  GgufVocab vocab = llama();
  vocab.add_bos = false;
  vocab.add_space_prefix = false;
  EXPECT_EQ(spelled(vocab, "a\u00e9xy"), "a|<0xC3>|<0xA9>|<unk>");
  EXPECT_EQ(decoded(vocab, "a\u00e9"), "a\u00e9");
}

TEST(GgufLlama, KeepsToTheTypesOfTokens) {
  GgufVocab vocab = llama();
  vocab.add_bos = false;
  vocab.add_space_prefix = false;
  EXPECT_EQ(spelled(vocab, "cc"), "c|c");  // "cc" is unused
  EXPECT_EQ(spelled(vocab, "a<tool>"), "a|<tool>");
  EXPECT_EQ(spelled(vocab, "a</s>"), "a|</s>");
  EXPECT_EQ(spelled(vocab, "a<tool></s>", {.parse_special = false}), "a|<tool>|<unk>");
}

TEST(GgufLlama, FindsSpecialTokensByTheirRolesWhenThereAreNoTypes) {
  GgufVocab vocab = llama();
  vocab.token_types.clear();
  EXPECT_EQ(spelled(vocab, "a</s>"), "<s>|\u2581a|</s>");
  const auto tokenizer = Tokenizer::from_gguf(vocab);
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->role_id("eos_token"), 2u);
  EXPECT_TRUE(tokenizer->is_special(2));
  EXPECT_FALSE(tokenizer->is_special(14));
}

TEST(GgufGpt2, CutsAndMergesBytes) {
  GgufVocab vocab = gpt2();
  EXPECT_EQ(spelled(vocab, "ab ab12"), "ab|\u0120ab|12");
  EXPECT_EQ(decoded(vocab, "ab ab<s>12"), "ab ab12");
  vocab.pre = "starcoder";  // every digit is a word
  EXPECT_EQ(spelled(vocab, "ab12"), "ab|1|2");
  vocab.pre = "";
  EXPECT_EQ(spelled(vocab, "ab12"), "ab|12");
  vocab.pre = "default";
  EXPECT_EQ(spelled(vocab, "ab12"), "ab|12");
}

TEST(GgufGpt2, TakesBosAndTheUseOfMergesFromThePreTokenizer) {
  GgufVocab vocab = gpt2();
  vocab.merges.pop_back();
  EXPECT_EQ(spelled(vocab, "aab"), "a|ab");
  vocab.pre = "llama-bpe";
  EXPECT_EQ(spelled(vocab, "aab"), "<s>|aab");
  vocab.add_bos = false;
  EXPECT_EQ(spelled(vocab, "aab"), "aab");
  vocab.add_bos.reset();
  vocab.bos.reset();
  EXPECT_EQ(spelled(vocab, "aab"), "aab");
}

TEST(GgufGpt2, RecognizesEveryPreTokenizerItNames) {
  GgufVocab vocab = gpt2();
  vocab.add_bos = false;
  vocab.pre = "no-such";
  const std::string message = spelled(vocab, "");
  const std::string start =
      "\"tokenizer.ggml.pre\" is \"no-such\", which is not supported; known are ";
  ASSERT_TRUE(message.starts_with(start)) << message;
  std::string names = message.substr(start.size());
  ASSERT_TRUE(names.ends_with("."));
  names.back() = ',';
  int count = 0;
  for (size_t at = 0; at < names.size(); ++count) {
    const size_t end = names.find(',', at);
    vocab.pre = names.substr(at, end - at);
    EXPECT_EQ(spelled(vocab, " ab").substr(0, 4), "\u0120ab") << vocab.pre;
    at = end + 2;
  }
  EXPECT_GT(count, 40);
}

TEST(GgufGemma4, MergesSentencePieceText) {
  GgufVocab vocab = vocab_of("gemma4", {{"<pad>", 0, kControl},
                                        {"<bos>", 0, kControl},
                                        {"a", 0},
                                        {"\u2581", 0},
                                        {"\u2581a", 0},
                                        {"<0x62>", 0, kByte}});
  vocab.merges = {"\u2581 a"};
  vocab.bos = 1;
  EXPECT_EQ(spelled(vocab, "a a b"), "<bos>|a|\u2581a|\u2581|<0x62>");
  EXPECT_EQ(decoded(vocab, "a a b"), "a a b");
  vocab.add_bos = false;  // as published files have it
  EXPECT_EQ(spelled(vocab, "a"), "<bos>|a");
}

TEST(GgufT5, TakesTheBestSumOfScoresOfPieces) {
  GgufVocab vocab = vocab_of("t5", {{"<pad>", 0, kControl},
                                    {"</s>", 0, kControl},
                                    {"<unk>", 0, kUnknown},
                                    {"\u2581", -2},
                                    {"a", -1},
                                    {"b", -1},
                                    {"ab", -1.5F},
                                    {"ba", -0.1F, kUnused}});
  EXPECT_EQ(spelled(vocab, "aba"), "ab|a|</s>");
  EXPECT_EQ(spelled(vocab, "ax</s>", {.add_special = false, .parse_special = false}), "a|<unk>");
  vocab.add_space_prefix = true;
  vocab.remove_extra_spaces = true;
  EXPECT_EQ(spelled(vocab, "  a   b "), "\u2581|a|\u2581|b|</s>");
  EXPECT_EQ(decoded(vocab, "a b"), "a b");
}

/// The table in which "x" becomes `replacement`.
std::string charsmap_of_x(std::string_view replacement) {
  std::vector<uint32_t> trie(0x179);
  trie[0] = 0x100 << 10;
  trie['x' + 0x100] = 'x' | 1 << 8 | 'x' << 10;  // its value is 0, the first replacement, at 0x100
  const auto length = uint32_t(trie.size() * sizeof(uint32_t));
  std::string bytes(sizeof length + length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, trie.data(), length);
  bytes += replacement;
  return bytes + '\0';
}

TEST(GgufT5, LooksCharactersUpFirst) {
  GgufVocab vocab = vocab_of(
      "t5", {{"<s>", 0, kControl}, {"</s>", 0, kControl}, {"<unk>", 0, kUnknown}, {"ab", -1}});
  vocab.bos = 0;
  vocab.charsmap = charsmap_of_x("ab");
  EXPECT_EQ(spelled(vocab, "x"), "ab|</s>");
  vocab.architecture = "bert";  // XLM-RoBERTa's
  EXPECT_EQ(spelled(vocab, "x"), "<s>|ab|</s>");
  vocab.charsmap = charsmap_of_x("\xff");  // no text
  EXPECT_EQ(spelled(vocab, "x"), "<s>|<unk>|</s>");
  vocab.charsmap = "abc";
  EXPECT_EQ(spelled(vocab, "x"),
            "The precompiled_charsmap has 3 bytes, of which its trie would be 0.");
}

TEST(GgufBert, TakesTheLongestPieces) {
  GgufVocab vocab = vocab_of("bert", {{"[PAD]", 0, kControl},
                                      {"[UNK]", 0, kControl},
                                      {"[CLS]", 0, kControl},
                                      {"[SEP]", 0, kControl},
                                      {"\u2581un", 0},
                                      {"aff", 0},
                                      {"able", 0},
                                      {"\u2581,", 0}});
  vocab.unk = 1;
  vocab.bos = 2;
  vocab.sep = 3;
  EXPECT_EQ(spelled(vocab, "Un\u00e4ffable, able"), "[CLS]|un|##aff|##able|,|[UNK]|[SEP]");
  vocab.lowercase = false;
  EXPECT_EQ(spelled(vocab, "Un"), "[CLS]|[UNK]|[SEP]");
}

TEST(GgufLlama, StripsTheBlanksAfterTokensOfPhi3) {
  GgufVocab vocab = llama();
  const std::string kept = "<s>|<tool>|\u2581|\u2581|<unk>|a|<s>|\u2581|\u2581a";
  EXPECT_EQ(spelled(vocab, "<tool> \na<s> a"), kept);
  const std::string taken = "<s>|<tool>|\u2581a|<s>|\u2581|\u2581a";
  vocab.architecture = "phi3";
  EXPECT_EQ(spelled(vocab, "<tool> \na<s> a"), taken);
  vocab.architecture = "llama";
  vocab.name = "Phi-3 mini";
  EXPECT_EQ(spelled(vocab, "<tool> \na<s> a"), taken);
  vocab.name = "Phi";
  EXPECT_EQ(spelled(vocab, "<tool> \na<s> a"), kept);
}

TEST(GgufGpt2, StripsTheBlanksBeforeAMask) {
  GgufVocab vocab = gpt2();
  vocab.tokens[8] = "<mask>";
  vocab.add_bos = false;
  EXPECT_EQ(spelled(vocab, "ab <mask> ab"), "ab|\u0120|<mask>|\u0120ab");
  vocab.pre = "jina-v2-de";
  EXPECT_EQ(spelled(vocab, "ab <mask> ab"), "ab|<mask>|\u0120ab");
  vocab.pre = "modern-bert";
  EXPECT_EQ(spelled(vocab, "ab <mask> ab"), "ab|\u0120|<mask>|\u0120ab");
  vocab.tokens[8] = "[MASK]";
  EXPECT_EQ(spelled(vocab, "ab [MASK] ab"), "ab|[MASK]|\u0120ab");
}

TEST(GgufVocab, RefusesArraysOfOtherLengths) {
  GgufVocab vocab = llama();
  vocab.token_types.pop_back();
  EXPECT_EQ(spelled(vocab, ""),
            "\"tokenizer.ggml.token_type\" has 15 entries, but \"tokenizer.ggml.tokens\" has 16.");
  vocab = llama();
  vocab.scores.push_back(1);
  EXPECT_EQ(spelled(vocab, ""),
            "\"tokenizer.ggml.scores\" has 17 entries, but \"tokenizer.ggml.tokens\" has 16.");
  vocab.scores.clear();
  EXPECT_EQ(spelled(vocab, ""), "\"tokenizer.ggml.scores\" is missing or empty.");
  vocab = gpt2();
  vocab.merges.clear();
  EXPECT_EQ(spelled(vocab, ""), "\"tokenizer.ggml.merges\" is missing or empty.");
  vocab.tokens.clear();
  EXPECT_EQ(spelled(vocab, ""), "\"tokenizer.ggml.tokens\" is missing or empty.");
}

TEST(GgufVocab, RefusesBadTokens) {
  GgufVocab vocab = llama();
  vocab.tokens[7] = "\xff";
  EXPECT_EQ(spelled(vocab, ""), "Token 7 of \"tokenizer.ggml.tokens\" is not UTF-8.");
  vocab.tokens[7] = "a";
  EXPECT_EQ(spelled(vocab, ""), "Token \"a\" is in the vocabulary twice, with ids 6 and 7.");
  vocab.tokens[7] = std::string(1025, 'a');
  EXPECT_EQ(spelled(vocab, ""), "Token 7 has 1025 bytes; at most 1024 are supported.");
  vocab = llama();
  vocab.token_types[3] = 7;
  EXPECT_EQ(spelled(vocab, ""),
            "Token 3 has type 7 in \"tokenizer.ggml.token_type\"; 1 to 6 are known.");
  vocab = llama();
  vocab.scores[3] = NAN;
  EXPECT_EQ(spelled(vocab, ""),
            "The score of token 3 in \"tokenizer.ggml.scores\" is not a number.");
}

TEST(GgufVocab, LeavesAnEmptyTokenOut) {
  GgufVocab vocab = llama();
  vocab.tokens[8].clear();
  vocab.tokens[12].clear();
  EXPECT_EQ(spelled(vocab, "ab"), "<s>|\u2581|ab");
  EXPECT_EQ(Tokenizer::from_gguf(vocab)->token(8), std::nullopt);
}

TEST(GgufVocab, RefusesBadMerges) {
  GgufVocab vocab = gpt2();
  vocab.merges[1] = "a z";
  EXPECT_EQ(spelled(vocab, ""),
            "The merge \"a z\" needs the token \"z\", which is not in the vocabulary.");
  vocab.merges[1] = "b a";
  EXPECT_EQ(spelled(vocab, ""),
            "The merge \"b a\" needs the token \"ba\", which is not in the vocabulary.");
  for (const char* merge : {"", " ", "a", "a ", " a"}) {
    vocab.merges[1] = merge;
    EXPECT_EQ(spelled(vocab, ""),
              "The merge \"" + vocab.merges[1] + "\" is not two tokens with a space between them.");
  }
}

TEST(GgufVocab, RefusesMissingIdsThatAreNeeded) {
  GgufVocab vocab = gpt2();
  vocab.add_eos = true;
  const std::string expected =
      "\"tokenizer.ggml.add_eos_token\" is true, but \"tokenizer.ggml.eos_token_id\" is missing or "
      "beyond the vocabulary.";
  EXPECT_EQ(spelled(vocab, ""), expected);
  vocab.eos = 10;
  EXPECT_EQ(spelled(vocab, ""), expected);
}

TEST(GgufVocab, ContinuesWithoutIdsOutsideTheVocabulary) {
  GgufVocab vocab = llama();
  const std::string usual = spelled(vocab, "ab");
  vocab.pad = 32000;
  vocab.sep = UINT32_MAX;
  vocab.bos = 32000;  // 1, as without it
  EXPECT_EQ(spelled(vocab, "ab"), usual);
}

TEST(GgufVocab, TakesANameOfAnyBytes) {
  GgufVocab vocab = llama();
  const std::string usual = spelled(vocab, "ab");
  for (const char* name : {"Phi\xE6\x97", "\xFF\xFE", "\xF0"}) {
    vocab.name = name;
    EXPECT_EQ(spelled(vocab, "ab"), usual);
  }
}

TEST(GgufVocab, RefusesAnUnknownModel) {
  GgufVocab vocab = gpt2();
  vocab.model = "rwkv";
  EXPECT_EQ(spelled(vocab, ""),
            "\"tokenizer.ggml.model\" is \"rwkv\", which is not supported; known are gpt2, llama, "
            "gemma4, t5 and bert.");
}

}  // namespace
}  // namespace tokamak
