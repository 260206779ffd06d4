#include "protocol/service/plain_fixture_test.h"

namespace tokamak::protocol {
namespace {

Engine& engine() {
  static const std::unique_ptr<Engine> kEngine = open_encoder("rerank/cross_bert");
  return *kEngine;
}

PlainAnswer ask(std::string_view body) {
  return response(engine(), "/v1/rerank", body);
}

TEST(Rerank, TheBestDocumentComesFirst) {
  const PlainAnswer received = ask(
      R"({"model": "m", "query": "a fox", "documents": ["a river", {"text": "an owl"}, "the fox"]})");
  ASSERT_EQ(received.status, 200) << received.json.dump();
  const std::vector<std::string> documents = {"a river", "an owl", "the fox"};
  const auto scores = engine().rerank("a fox", documents);
  ASSERT_TRUE(scores) << scores.error().message;
  const auto& results = received.json.find("results")->as_array();
  ASSERT_EQ(results.size(), 3u);
  double before = 2;
  for (const Json& one : results) {
    const double score = one.find("relevance_score")->as_number();
    EXPECT_LE(score, before);
    before = score;
    EXPECT_EQ(float(score), (*scores)[size_t(one.find("index")->as_integer())]);
    EXPECT_EQ(one.find("document"), nullptr);
  }
}

TEST(Rerank, AsManyAsAreAskedForWithTheirTexts) {
  const PlainAnswer received = ask(
      R"({"query": "a fox", "documents": ["a river", "an owl"], "top_n": 1, "return_documents": true})");
  ASSERT_EQ(received.status, 200) << received.json.dump();
  const auto& results = received.json.find("results")->as_array();
  ASSERT_EQ(results.size(), 1u);
  const bool is_first = *results[0].find("index") == Json(0);
  EXPECT_EQ(*results[0].find("document")->find("text"), Json(is_first ? "a river" : "an owl"));
}

TEST(Rerank, WhatIsMissingOrDoesNotFitIsAnError) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"documents": ["a"]})", "query"},
      {R"({"query": "a"})", "documents"},
      {R"({"query": "a", "documents": []})", "documents"},
      {R"({"query": "a", "documents": [5]})", "documents"},
      {R"({"query": "a", "documents": ["a"], "top_n": 0})", "top_n"},
      {R"({"query": "a", "truncation": false, "documents": [")" + std::string(400, '.') + "\"]}",
       "documents"},
  };
  for (const auto& [body, param] : cases) {
    const PlainAnswer received = ask(body);
    EXPECT_EQ(received.status, 400) << body;
    EXPECT_EQ(*received.json.find("error")->find("param"), Json(param)) << body;
  }
}

}  // namespace
}  // namespace tokamak::protocol
