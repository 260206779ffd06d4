#include "memory/search.h"

#include "base/json.h"
#include "memory/fixture_test.h"

namespace tokamak::memory {
namespace {

std::vector<std::string> sources(const std::vector<Hit>& hits) {
  std::vector<std::string> out;
  for (const Hit& hit : hits) out.push_back(hit.source);
  return out;
}

/// Fifty notes, each with a question: half have its words, half say the same in others.
class QuestionsTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    std::ifstream file(TOKAMAK_TEST_DATA "/memory/questions.json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Json json = value(Json::parse(text));
    for (const Json& one : json.find("synonyms")->as_array()) {
      std::vector<std::string> words;
      for (const Json& word : one.as_array()) words.push_back(word.as_string());
      model_.add_synonyms(words);
    }
    own_ = store();
    for (const char* kind : {"by_words", "by_vectors"}) {
      for (const Json& one : json.find(kind)->as_array()) {
        const std::string source = fmt::format("{}{}", kind, questions_.size());
        add(*own_, one.find("text")->as_string(), source);
        questions_.emplace_back(one.find("question")->as_string(), source);
      }
    }
  }

  /// The share of questions of a kind ("" for all) whose note is among the first five.
  double recall_at_5(By by, std::string_view kind = "") {
    Searcher searcher(*own_, &embedder_);
    int found = 0, all = 0;
    for (const auto& [question, source] : questions_) {
      if (!source.starts_with(kind)) continue;
      ++all;
      const auto hits = sources(value(searcher.search(question, {.by = by, .most = 5})));
      found += int(std::ranges::count(hits, source));
    }
    return double(found) / all;
  }

  std::optional<Store> own_;
  std::vector<std::pair<std::string, std::string>> questions_;
};

TEST_F(QuestionsTest, AreAnsweredBestByWordsAndVectorsTogether) {
  EXPECT_EQ(questions_.size(), 50u);
  EXPECT_GE(recall_at_5(By::kWords, "by_words"), 0.96);
  EXPECT_LE(recall_at_5(By::kWords, "by_vectors"), 0.6);
  EXPECT_GE(recall_at_5(By::kVectors, "by_vectors"), 0.96);
  EXPECT_LE(recall_at_5(By::kVectors, "by_words"), 0.5);
  EXPECT_GE(recall_at_5(By::kBoth), 0.96);
}

TEST_F(StoreTest, SeesNoSyntaxInQuestions) {
  const Store own = store();
  add(own, "The fox \"Reynard\" said: NOT today AND never (or NEAR it) * ^ - + {a b}.");
  add(own, "Unrelated.");
  Searcher searcher(own, nullptr);
  for (const char* question :
       {"\"", "\"fox", "fox*", "fox AND", "NOT fox", "fox NEAR(", "(fox", "text:fox", "^fox",
        "fox - owl", "{fox}", "fox\" OR \"1", "fox;DROP TABLE chunk", "'fox'", "fox\\"}) {
    const auto hits = searcher.search(question, {.by = By::kWords});
    ASSERT_TRUE(hits) << question << ": " << hits.error().message;
    EXPECT_EQ(hits->size(), std::string(question) == "\"" ? 0u : 1u) << question;
  }
  EXPECT_EQ(value(searcher.search("", {.by = By::kWords})).size(), 0u);
  std::string page;
  for (int i = 0; i < 5000; ++i) page += fmt::format("word{} ", i);
  EXPECT_EQ(value(searcher.search("fox " + page, {.by = By::kWords})).size(), 1u);
}

TEST_F(StoreTest, FindsWordsInAnyCaseAndWithoutAccents) {
  const Store own = store();
  add(own, "Caf\u00e9 M\u00dcLLER");
  Searcher searcher(own, nullptr);
  for (const char* question : {"cafe", "CAFE\u0301", "m\u00fcller", "muller"}) {
    EXPECT_EQ(value(searcher.search(question, {.by = By::kWords})).size(), 1u) << question;
  }
}

TEST_F(StoreTest, SearchesAmongWhatTheFilterLeaves) {
  const Store own = store();
  for (int i = 0; i < 100; ++i) {
    add(own, fmt::format("Fox {} sleeps.", i), fmt::format("{}.md", i), i);
  }
  Searcher searcher(own, &embedder_);
  for (const By by : {By::kWords, By::kVectors, By::kBoth}) {
    const auto hits = value(searcher.search("fox 3", {.filter = {.since = 98}, .by = by}));
    EXPECT_EQ(hits.size(), 2u);
    for (const Hit& hit : hits) EXPECT_GE(hit.chunk.document, 99);
  }
}

TEST_F(StoreTest, SeesWhatChangesBetweenQuestions) {
  const Store own = store();
  add(own, "Fox one.", "a");
  Searcher searcher(own, &embedder_);
  EXPECT_EQ(value(searcher.search("fox", {.by = By::kVectors})).size(), 1u);
  add(store(), "Fox two, of another program.", "b");
  EXPECT_EQ(value(searcher.search("fox", {.by = By::kVectors})).size(), 2u);
  value(own.forget({.source = "a"}));
  EXPECT_EQ(sources(value(searcher.search("fox", {.by = By::kVectors}))),
            std::vector<std::string>{"b"});
}

TEST_F(StoreTest, KeepsTheVectorsAsLongAsNothingChanges) {
  const Store own = store();
  add(own, "Fox one.");
  Searcher searcher(own, &embedder_);
  value(searcher.search("fox", {}));
  model_.seen.clear();
  value(searcher.search("owl", {}));
  EXPECT_EQ(model_.seen, std::vector<std::string>{"owl"});
}

TEST_F(StoreTest, LeavesOutCopies) {
  const Store own = store();
  const std::string text =
      "The fox sleeps by day, hunts by night, eats mice, berries, insects, hides under old trees, "
      "raises young ones in spring, and avoids people as far as that is possible anywhere.";
  add(own, text, "a");
  add(own, text, "copy");
  add(own, text + " Indeed.", "nearly");
  add(own, "The fox sleeps by day.", "other");
  Searcher searcher(own, nullptr);
  EXPECT_EQ(value(searcher.search("fox", {.by = By::kWords})).size(), 2u);
}

TEST_F(StoreTest, SortsByAReranker) {
  const Store own = store();
  for (int i = 0; i < 30; ++i) add(own, fmt::format("Fox {} is here.", i), std::to_string(i));
  Searcher searcher(own, nullptr);
  size_t asked = 0;
  const Rerank rerank = [&](std::string_view query,
                            std::span<const std::string> texts) -> Result<std::vector<float>> {
    EXPECT_EQ(query, "fox");
    asked = texts.size();
    std::vector<float> scores;
    for (const std::string& text : texts) scores.push_back(text == "Fox 7 is here." ? 0.9F : 0.1F);
    return scores;
  };
  const auto hits = value(searcher.search("fox", {.by = By::kWords, .most = 3, .rerank = rerank}));
  EXPECT_EQ(asked, 20u);
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].source, "7");
  EXPECT_FLOAT_EQ(float(hits[0].score), 0.9F);
  EXPECT_EQ(hits[1].source, "0");
}

TEST_F(StoreTest, FindsNothingWhereThereIsNothing) {
  const Store own = store();
  Searcher searcher(own, &embedder_);
  EXPECT_TRUE(value(searcher.search("fox", {})).empty());
}

}  // namespace
}  // namespace tokamak::memory
