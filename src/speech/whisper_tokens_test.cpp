#include "speech/whisper_tokens.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

// Text 0 .. 9, the end 10, then what steers, and timestamps from 20 on.
constexpr uint32_t kEnd = 10, kNoSpeech = 18, kNoTimestamps = 19, kFirst = 20, kVocab = 40;

WhisperTokens tokens() {
  WhisperTokens t;
  t.end = kEnd;
  t.no_speech = kNoSpeech;
  t.no_timestamps = kNoTimestamps;
  t.first_timestamp = kFirst;
  return t;
}

/// Which may follow `written`, all but `likely` being as probable as each other.
std::vector<uint32_t> allowed(const WhisperTokens& t, const std::vector<uint32_t>& written,
                              bool timestamps, uint32_t likely = 3) {
  std::vector<float> logits(kVocab);
  logits[likely] = 20;
  t.forbid(written, timestamps, logits);
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < kVocab; ++id) {
    if (std::isfinite(logits[id])) ids.push_back(id);
  }
  return ids;
}

std::vector<uint32_t> between(uint32_t first, uint32_t last) {
  std::vector<uint32_t> ids;
  for (; first <= last; ++first) ids.push_back(first);
  return ids;
}

TEST(WhisperTokens, SuppressesSomeAlwaysAndSomeAtTheBeginning) {
  WhisperTokens t = tokens();
  t.suppressed = between(1, 30);
  t.suppressed.push_back(1000);  // beyond this vocabulary
  t.suppressed_first = between(31, 38);
  EXPECT_EQ(allowed(t, {}, false), (std::vector<uint32_t>{0, 39}));
  EXPECT_EQ(allowed(t, {5}, false).front(), 0u);
  EXPECT_EQ(allowed(t, {5}, false).size(), 10u);
}

TEST(WhisperTokens, BeginsWithATimestampThatIsNotLate) {
  WhisperTokens t = tokens();
  EXPECT_EQ(allowed(t, {}, true), between(kFirst, kVocab - 1));
  t.max_first_timestamp = 4;
  EXPECT_EQ(allowed(t, {}, true), between(kFirst, kFirst + 4));
}

TEST(WhisperTokens, HasTimestampsInPairs) {
  // After the first there is text; one after text is followed by another or by the end.
  EXPECT_EQ(allowed(tokens(), {kFirst + 1}, true).back(), kNoTimestamps - 1);
  std::vector<uint32_t> second = {kEnd};
  for (uint32_t id = kEnd + 1; id < kNoTimestamps; ++id) second.push_back(id);
  for (uint32_t id = kFirst + 5; id < kVocab; ++id) second.push_back(id);
  EXPECT_EQ(allowed(tokens(), {kFirst, 1, kFirst + 5}, true, kEnd), second);
  EXPECT_EQ(allowed(tokens(), {kFirst, 1, kFirst + 5, kFirst + 5}, true).back(), kNoTimestamps - 1);
}

TEST(WhisperTokens, NeverGoesBackInTime) {
  const auto ids = allowed(tokens(), {kFirst + 7, 1}, true);
  EXPECT_EQ(ids[ids.size() - 1], kVocab - 1);
  EXPECT_EQ(std::count_if(ids.begin(), ids.end(), [](uint32_t id) { return id >= kFirst; }),
            kVocab - kFirst - 8);
}

TEST(WhisperTokens, TakesATimestampWhereAllOfThemAreMoreProbableThanAnyText) {
  std::vector<float> logits(kVocab);
  logits[3] = 2;  // less than twenty times 1
  tokens().forbid(std::vector<uint32_t>{kFirst, 1}, true, logits);
  EXPECT_FALSE(std::isfinite(logits[3]));
  EXPECT_FALSE(std::isfinite(logits[kEnd]));
  EXPECT_TRUE(std::isfinite(logits[kFirst + 1]));
}

TEST(WhisperTokens, RecognizesLanguageAndSilenceByTheFirstLogits) {
  WhisperTokens t = tokens();
  t.languages = {{"de", 12}, {"en", 13}};
  std::vector<float> logits(kVocab);
  logits[0] = 9;  // no language
  logits[13] = 1;
  EXPECT_EQ(t.language_of(logits), "en");
  logits[kNoSpeech] = 30;
  EXPECT_NEAR(t.no_speech_prob(logits), 1, 1e-6);
}

ModelDescription described(const char* generation_config) {
  ModelDescription description;
  auto json = Json::parse(generation_config);
  EXPECT_TRUE(json);
  if (json) description.generation_config = *std::move(json);
  return description;
}

TEST(WhisperTokens, AreReadFromGenerationConfig) {
  const auto t = WhisperTokens::read(
      described(R"({"eos_token_id": 10, "no_timestamps_token_id": 19, "prev_sot_token_id": 17,
                    "lang_to_id": {"<|en|>": 13, "<|yue|>": 14}, "task_to_id": {"transcribe": 15},
                    "suppress_tokens": [1, 2], "max_initial_timestamp_index": 3})"),
      11, kVocab);
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->first_timestamp, 20u);
  EXPECT_EQ(t->no_speech, 18u);
  EXPECT_EQ(t->languages, (std::map<std::string, uint32_t>{{"en", 13}, {"yue", 14}}));
  EXPECT_EQ(t->transcribe, 15u);
  EXPECT_EQ(t->translate, std::nullopt);
  EXPECT_EQ(t->max_first_timestamp, 3u);
}

TEST(WhisperTokens, MayBeSuppressedByEmptyListsNullsAndSingleNumbers) {
  const auto t = WhisperTokens::read(
      described(R"({"eos_token_id": [10], "no_timestamps_token_id": 19, "suppress_tokens": [],
                    "begin_suppress_tokens": 4, "forced_decoder_ids": [], "alignment_heads": [],
                    "lang_to_id": {}, "max_initial_timestamp_index": null})"),
      11, kVocab);
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->end, 10u);
  EXPECT_TRUE(t->suppressed.empty());
  EXPECT_EQ(t->suppressed_first, std::vector<uint32_t>{4});
  const auto null = WhisperTokens::read(
      described(R"({"eos_token_id": 10, "no_timestamps_token_id": 19, "suppress_tokens": null,
                    "begin_suppress_tokens": []})"),
      11, kVocab);
  ASSERT_TRUE(null) << null.error().message;
  EXPECT_TRUE(null->suppressed.empty());
  EXPECT_TRUE(null->suppressed_first.empty());
}

/// Tokens from 10 on, as Whisper's vocabulary ends.
Tokenizer named_tokens() {
  constexpr const char* kNames[] = {"<|endoftext|>",   "<|startoftranscript|>", "<|en|>",
                                    "<|yue|>",         "<|translate|>",         "<|transcribe|>",
                                    "<|startoflm|>",   "<|startofprev|>",       "<|nospeech|>",
                                    "<|notimestamps|>"};
  std::string added, vocab;
  uint32_t id = 10;
  for (const char* name : kNames) {
    const char* const mark = added.empty() ? "" : ", ";
    added += fmt::format(
        R"({}{{"id": {}, "content": "{}", "special": true, "normalized": false, "lstrip": false,
               "rstrip": false, "single_word": false}})",
        mark, id, name);
    vocab += fmt::format(R"({}"{}": {})", mark, name, id++);
  }
  auto tokenizer = Tokenizer::from_json(fmt::format(
      R"({{"added_tokens": [{}], "model": {{"type": "BPE", "vocab": {{{}}}, "merges": []}}}})",
      added, vocab));
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return *std::move(tokenizer);
}

TEST(WhisperTokens, AreReadByTheirNamesWhereFilesDoNotNumberThem) {
  const Tokenizer tokenizer = named_tokens();
  constexpr uint32_t kMultilingual = 51865;
  ModelDescription old = described(R"({"eos_token_id": 10, "_from_model_config": true})");
  ModelDescription none;
  none.config = *Json::parse(R"({"eos_token_id": 10, "suppress_tokens": []})");
  for (const ModelDescription* description : {&old, &none}) {
    const auto t = WhisperTokens::read(*description, 11, kMultilingual, &tokenizer);
    ASSERT_TRUE(t) << t.error().message;
    EXPECT_EQ(t->languages, (std::map<std::string, uint32_t>{{"en", 12}, {"yue", 13}}));
    EXPECT_EQ(t->translate, 14u);
    EXPECT_EQ(t->transcribe, 15u);
    EXPECT_EQ(t->previous, 17u);
    EXPECT_EQ(t->no_speech, 18u);
    EXPECT_EQ(t->first_timestamp, 20u);
  }
  const auto english = WhisperTokens::read(none, 11, kMultilingual - 1, &tokenizer);
  ASSERT_TRUE(english) << english.error().message;
  EXPECT_TRUE(english->languages.empty());
  EXPECT_EQ(english->translate, std::nullopt);
}

TEST(WhisperTokens, NameTheFieldThatIsWrong) {
  const auto error = [](const char* text) {
    const auto t = WhisperTokens::read(described(text), 11, kVocab);
    return t ? "" : t.error().message;
  };
  EXPECT_NE(error(R"({"eos_token_id": 10})").find("no_timestamps_token_id"), std::string::npos);
  EXPECT_EQ(error(R"({"eos_token_id": 10, "no_timestamps_token_id": 39})"),
            "generation_config.json: token 40 is beyond the vocabulary of 40 tokens.");
  EXPECT_NE(error(R"({"eos_token_id": 10, "no_timestamps_token_id": 19, "lang_to_id": [1]})")
                .find("lang_to_id"),
            std::string::npos);
  const auto none = WhisperTokens::read(ModelDescription(), 11, kVocab);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "The model has no generation_config.json, which numbers the tokens that steer it.");
}

}  // namespace
}  // namespace tokamak
