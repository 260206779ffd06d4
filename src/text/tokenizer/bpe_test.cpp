#include "text/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tokamak {
namespace {

/// The tokens of `word` for the model `json`, with "|" between them, or the message of its error.
std::string spelled(std::string_view json, std::string_view word) {
  auto model = read_token_model(*Json::parse(json));
  if (!model) return model.error().message;
  WordCache cache(word.size());
  std::vector<uint32_t> ids;
  (*model)->encode(word, cache, ids);
  std::string joined;
  for (const uint32_t id : ids) {
    if (!joined.empty()) joined += '|';
    joined += (*model)->vocabulary().token(id);
  }
  return joined;
}

TEST(Bpe, MergesTheLowestRankFirst) {
  EXPECT_EQ(spelled(R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4},
                        "merges": ["b c", "a b"]})",
                    "abc"),
            "a|bc");
}

TEST(Bpe, MergesTheLeftmostOfEqualRank) {
  EXPECT_EQ(
      spelled(R"({"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": [["a", "a"]]})", "aaa"),
      "aa|a");
}

TEST(Bpe, UnknownCharactersAreUnkFusedOrNot) {
  EXPECT_EQ(spelled(R"({"type": "BPE", "vocab": {"?": 0, "a": 1}, "merges": [],
                        "unk_token": "?", "fuse_unk": true})",
                    "xyaz"),
            "?|a|?");
  EXPECT_EQ(spelled(R"({"type": "BPE", "vocab": {"?": 0, "a": 1}, "merges": [],
                        "unk_token": "?"})",
                    "xyaz"),
            "?|?|a|?");
  EXPECT_EQ(spelled(R"({"type": "BPE", "vocab": {"a": 1}, "merges": []})", "xyaz"), "a");
}

TEST(Bpe, FallsBackToBytes) {
  const std::string json = R"({"type": "BPE", "vocab": {"?": 0, "<0xC3>": 1, "<0xA9>": 2},
                               "merges": [], "unk_token": "?", "byte_fallback": true})";
  EXPECT_EQ(spelled(json, "\u00e9"), "<0xC3>|<0xA9>");
  EXPECT_EQ(spelled(json, "\u00e8"), "?");  // <0xA8> is missing, so no byte of it is used
}

TEST(Bpe, IgnoresMergesForAWordThatIsAToken) {
  const std::string vocab = R"("vocab": {"a": 0, "b": 1, "c": 2, "bc": 3, "abc": 4})";
  EXPECT_EQ(spelled(R"({"merges": ["b c"], "ignore_merges": true, )" + vocab + "}", "abc"), "abc");
  EXPECT_EQ(spelled(R"({"merges": ["b c"], "ignore_merges": false, )" + vocab + "}", "abc"),
            "a|bc");
}

TEST(Bpe, MarksContinuationsAndWordEnds) {
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0, "##b": 1, "##c</w>": 2, "ab": 3},
                        "merges": ["a ##b"], "continuing_subword_prefix": "##",
                        "end_of_word_suffix": "</w>"})",
                    "abc"),
            "ab|##c</w>");
}

/// Random models, against the definition: merge the leftmost pair of the lowest rank, repeat.
struct RandomBpe {
  explicit RandomBpe(uint32_t seed) : random(seed) {
    for (const char* c : {"a", "b", "c", "\u00e9"}) tokens.emplace_back(c);
    for (int i = 0; i < 24; ++i) {
      const std::string left = tokens[random() % tokens.size()];
      const std::string right = tokens[random() % tokens.size()];
      if (std::find(tokens.begin(), tokens.end(), left + right) == tokens.end()) {
        tokens.push_back(left + right);
      }
      ranks.try_emplace({left, right}, ranks.size());
    }
    Json::Object vocab;
    for (const std::string& token : tokens) vocab.emplace_back(token, Json(uint64_t(vocab.size())));
    Json::Array merges(ranks.size());
    for (const auto& [pair, rank] : ranks) {
      merges[rank] = Json(Json::Array{Json(pair.first), Json(pair.second)});
    }
    json = Json(Json::Object{{"vocab", Json(vocab)}, {"merges", Json(merges)}});
  }

  std::string word(size_t chars) {
    std::string text;
    for (size_t i = 0; i < chars; ++i) text += tokens[random() % 4];
    return text;
  }

  std::string naive(std::string_view text) const {
    std::vector<std::string> parts;
    for (size_t at = 0; at < text.size(); at += parts.back().size()) {
      parts.emplace_back(text.substr(at, uint8_t(text[at]) < 0x80 ? 1 : 2));
    }
    while (true) {
      size_t best = parts.size(), best_rank = ranks.size();
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto rank = ranks.find({parts[i], parts[i + 1]});
        if (rank != ranks.end() && rank->second < best_rank) {
          best = i;
          best_rank = rank->second;
        }
      }
      if (best == parts.size()) break;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + ptrdiff_t(best) + 1);
    }
    std::string joined;
    for (const std::string& part : parts) joined += (joined.empty() ? "" : "|") + part;
    return joined;
  }

  std::mt19937 random;
  std::vector<std::string> tokens;
  std::map<std::pair<std::string, std::string>, size_t> ranks;
  Json json;
};

TEST(Bpe, AgreesWithTheDefinitionOnRandomModels) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    RandomBpe bpe(seed);
    const std::string json = bpe.json.dump();
    for (const size_t chars : {1u, 2u, 7u, 30u, 200u}) {  // the longest is cut into parts first
      const std::string word = bpe.word(chars);
      ASSERT_EQ(spelled(json, word), bpe.naive(word)) << "seed " << seed << " word " << word;
    }
  }
}

TEST(Bpe, MergesAcrossCharactersThatItDropsInLongWordsToo) {
  const std::string json =
      R"({"vocab": {"a": 0, "b": 1, "ab": 2, "<0x78>": 3}, "merges": ["a b"]})";
  for (const size_t dropped : {1u, 100u}) {
    const std::string gap(dropped, 'x');
    EXPECT_EQ(spelled(json, fmt::format("{0}a{0}b{0}b", gap)), "ab|b");
  }
  std::string with_bytes = json;
  with_bytes.insert(1, R"("byte_fallback": true, )");
  const std::string word = "a" + std::string(50, 'y') + "bxa\u00e9b";
  EXPECT_EQ(spelled(with_bytes, word), "ab|<0x78>|ab");
}

TEST(Bpe, SpellsAMillionEqualCharacters) {
  const auto model = read_token_model(
      *Json::parse(R"({"vocab": {"a": 0, "aa": 1, "aaaa": 2}, "merges": ["a a", "aa aa"]})"));
  ASSERT_TRUE(model);
  WordCache cache(1 << 20);
  std::vector<uint32_t> ids;
  (*model)->encode(std::string(1 << 20, 'a'), cache, ids);
  EXPECT_EQ(ids, std::vector<uint32_t>(1 << 18, 2));
}

TEST(Bpe, RefusesMergesOutsideTheVocabulary) {
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": ["a b"]})", ""),
            "The merge \"a b\" needs the token \"b\", which is not in the vocabulary.");
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": [["a", "a"]]})", ""),
            "The merge [\"a\", \"a\"] needs the token \"aa\", which is not in the vocabulary.");
}

TEST(Bpe, RefusesMergesThatAreNoPairs) {
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": ["a"]})", ""),
            "The merge \"a\" is not two tokens with a space between them.");
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": ["a a a"]})", ""),
            "The merge \"a a a\" is not two tokens with a space between them.");
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": [["a"]]})", ""),
            "The merge [\"a\"] is neither a string nor a pair of strings.");
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": {}})", ""),
            "\"merges\" is an object; an array is expected.");
}

TEST(Bpe, RefusesDropoutAndUnkOutsideTheVocabulary) {
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": [], "dropout": 0.1})", ""),
            "\"dropout\" is 0.1; only models without dropout are supported.");
  EXPECT_EQ(spelled(R"({"vocab": {"a": 0}, "merges": [], "unk_token": "u"})", ""),
            "\"unk_token\" is \"u\", which is not in the vocabulary.");
}

TEST(WordPiece, TakesTheLongestPieceOrUnk) {
  const std::string json = R"({"type": "WordPiece", "unk_token": "?", "max_input_chars_per_word": 5,
      "vocab": {"?": 0, "un": 1, "una": 2, "##ble": 3, "##b": 4}})";
  EXPECT_EQ(spelled(json, "unb"), "un|##b");
  EXPECT_EQ(spelled(json, "unab"), "una|##b");
  EXPECT_EQ(spelled(json, "unx"), "?");
  EXPECT_EQ(spelled(json, "unbbbb"), "?");  // six characters
}

TEST(Unigram, TakesTheBestSumOfScores) {
  const std::string json = R"({"type": "Unigram", "unk_id": 0,
      "vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5], ["aba", -4], ["c", -3]]})";
  EXPECT_EQ(spelled(json, "ab"), "ab");
  EXPECT_EQ(spelled(json, "aba"), "ab|a");
  EXPECT_EQ(spelled(json, "axyb"), "a|?|b");  // neighbouring unknowns are one
}

TEST(Unigram, RefusesBadEntries) {
  EXPECT_EQ(spelled(R"({"type": "Unigram", "vocab": [["a"]]})", ""),
            "\"vocab\" has [\"a\"]; a pair of token and score is expected.");
  EXPECT_EQ(spelled(R"({"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1})", ""),
            "\"unk_id\" is 1, but the vocabulary has 1 tokens.");
}

}  // namespace
}  // namespace tokamak
