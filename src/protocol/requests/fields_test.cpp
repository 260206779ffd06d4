#include "protocol/requests/fields.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace tokamak::protocol {
namespace {

struct EndpointName {
  Endpoint endpoint;
  const char* name;
};
constexpr EndpointName kEndpoints[] = {
    {kChat, "chat"},
    {kCompletions, "completions"},
    {kEmbeddings, "embeddings"},
    {kTokenize, "tokenize"},
    {kDetokenize, "detokenize"},
    {kApplyTemplate, "apply-template"},
    {kResponses, "responses"},
    {kMessages, "messages"},
    {kCountTokens, "count_tokens"},
    {kOllamaChat, "api/chat"},
    {kOllamaGenerate, "api/generate"},
    {kOllamaOptions, "options"},
    {kOllamaEmbed, "api/embed"},
    {kOllamaShow, "api/show"},
    {kRerank, "rerank"},
    {kSpeech, "audio/speech"},
    {kOllamaEmbeddings, "api/embeddings"},
    {kEmbedSparse, "embed_sparse"},
};

std::string error_of(const std::string& body, Endpoint endpoint = kChat) {
  const auto fields = read_fields(body, endpoint);
  return fields ? "" : fields.error().message;
}

/// Values that a field of this kind must not take.
struct WrongValues {
  const Field& field;

  static std::string text_of(double number) { return Json(number).dump(); }
  std::vector<std::string> range() const {
    std::vector<std::string> out = {"\"5\"", "true", "[]", "{}", "NaN", "Infinity", "1e300"};
    if (field.min > -9e15) out.push_back(text_of(field.min - 1));
    if (field.max < 9e15) out.push_back(text_of(field.max + 1));
    return out;
  }
  std::vector<std::string> operator()(std::optional<bool> Fields::*) const {
    return {"0", "1", "\"true\"", "[]", "{}"};
  }
  std::vector<std::string> operator()(std::optional<int64_t> Fields::*) const {
    std::vector<std::string> out = range();
    out.push_back("5.5");
    return out;
  }
  std::vector<std::string> operator()(std::optional<double> Fields::*) const { return range(); }
  std::vector<std::string> operator()(std::optional<std::string> Fields::*) const {
    std::vector<std::string> out = {"1", "true", "[]", "{}"};
    if (field.min > 0) out.push_back("\"\"");
    if (field.max < 9e15) out.push_back("\"" + std::string(size_t(field.max) + 1, 'a') + "\"");
    return out;
  }
  std::vector<std::string> operator()(Json Fields::*) const {
    std::vector<std::string> out;
    const auto takes = [this](Json::Kind kind) { return (field.kinds >> uint8_t(kind) & 1) != 0; };
    for (const char* value : {"1", "true", "\"a\"", "[1]", "[]", "{}"}) {
      const bool is_empty_object = value == std::string("[]") && takes(Json::Kind::kObject);
      if (!takes(Json::parse(value)->kind()) && !is_empty_object) out.push_back(value);
    }
    return out;
  }
};

TEST(Fields, EveryWrongValueIsAnErrorThatNamesTheField) {
  for (const Field& field : fields()) {
    for (const auto& [endpoint, word] : kEndpoints) {
      if ((field.endpoints & endpoint) == 0) continue;
      for (const std::string& value : std::visit(WrongValues{field}, field.member)) {
        const auto found = read_fields(fmt::format("{{\"{}\": {}}}", field.name, value), endpoint);
        ASSERT_FALSE(found) << word << " takes " << field.name << " " << value;
        EXPECT_EQ(found.error().status, 400);
        EXPECT_EQ(found.error().param, field.name);
        EXPECT_TRUE(
            found.error().message.ends_with(fmt::format(", expected {}.", expected_of(field))))
            << found.error().message;
      }
      const auto none = read_fields(fmt::format("{{\"{}\": null}}", field.name), endpoint);
      EXPECT_TRUE(none) << field.name << ": null is as if it were not there";
    }
  }
}

TEST(Fields, WhatNothingDoesYetIsTakenOnlyWhereItChangesNothing) {
  EXPECT_EQ(error_of(R"({"function_call": "end"})", kChat),
            "function_call is \"end\", but this server does not support it yet: leave it out.");
  EXPECT_EQ(error_of(R"({"function_call": ""})", kChat), "");
}

TEST(Fields, ValuesArriveWhereTheyBelong) {
  const auto found = read_fields(
      R"({"temperature": 0.5, "max_tokens": 5.0, "seed": -7, "stream": true, "cache_salt": "a",
          "stop": ["x"], "unheard_of": 1, "user": "me"})",
      kChat);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->temperature, 0.5);
  EXPECT_EQ(found->max_tokens, 5);
  EXPECT_EQ(found->seed, -7);
  EXPECT_EQ(found->stream, true);
  EXPECT_EQ(found->cache_salt, "a");
  EXPECT_EQ(found->stop, Json(Json::Array{"x"}));
  EXPECT_EQ(found->top_p, std::nullopt);
}

TEST(Fields, AnEmptyListIsTheEmptyObjectThatPhpMeans) {
  const auto found =
      read_fields(R"({"logit_bias": [], "chat_template_kwargs": [], "tools": []})", kChat);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->logit_bias, Json(Json::Object{}));
  EXPECT_EQ(found->chat_template_kwargs, Json(Json::Object{}));
  EXPECT_EQ(found->tools, Json(Json::Array{}));
  EXPECT_EQ(error_of(R"({"logit_bias": [1]})"),
            "logit_bias is [1], expected an object of at most 1024 token ids.");
}

TEST(Fields, ASeedHasAllDigitsOfSixtyFourBits) {
  EXPECT_EQ(read_fields(R"({"seed": 9007199254740993})", kChat)->seed, 9007199254740993);
}

TEST(Fields, WhatChangesAnAnswerAndIsNotDoneIsRefused) {
  const std::pair<const char*, Endpoint> cases[] = {
      {R"({"mirostat": 2})", kOllamaOptions},
      {R"({"background": true})", kResponses},
      {R"({"context": [1, 2]})", kOllamaGenerate},
      {R"({"template": "{{ .Prompt }}"})", kOllamaGenerate},
      {R"({"chat_template": "x"})", kChat},
      {R"({"stop_token_ids": [7]})", kCompletions},
      {R"({"top_logprobs": 3})", kResponses}};
  for (const auto& [body, endpoint] : cases) {
    EXPECT_NE(error_of(body, endpoint).find("does not support it yet"), std::string::npos) << body;
  }
  EXPECT_EQ(error_of(R"({"mirostat": 0, "mirostat_tau": 5})", kOllamaOptions), "");
  EXPECT_EQ(error_of(R"({"context": [], "template": ""})", kOllamaGenerate), "");
}

TEST(Fields, AFieldCountsOnlyWhereTheTableSays) {
  EXPECT_EQ(error_of(R"({"echo": 5})", kChat), "");
  EXPECT_NE(error_of(R"({"echo": 5})", kCompletions), "");
  EXPECT_EQ(error_of(R"({"logprobs": 5})", kChat), "logprobs is 5, expected true or false.");
  EXPECT_EQ(error_of(R"({"logprobs": 5})", kCompletions), "");
  EXPECT_EQ(error_of(R"({"temperature": 3})", kEmbeddings), "");
}

TEST(Fields, BodiesThatAreNoneAreErrors) {
  EXPECT_EQ(error_of("\xff{}"), "The body is not valid UTF-8.");
  EXPECT_EQ(error_of("[]"), "The body is an array, expected a JSON object.");
  EXPECT_TRUE(error_of("{").starts_with("The body is no JSON: ")) << error_of("{");
  EXPECT_TRUE(error_of("").starts_with("The body is no JSON: "));
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  EXPECT_EQ(error_of("{\"metadata\": " + deep + "}"),
            "The body nests more than 128 lists and objects.");
}

TEST(Fields, AMessageShowsOnlyTheBeginningOfALongValue) {
  std::string value;
  for (int i = 0; i < 500; ++i) value += "é";
  const std::string message = error_of("{\"temperature\": \"" + value + "\"}");
  EXPECT_LT(message.size(), 200u);
  EXPECT_NE(message.find("..."), std::string::npos);
}

TEST(Fields, TheDocumentHasTheTable) {
  std::string table = "| field | of | value | default | |\n| --- | --- | --- | --- | --- |\n";
  std::set<std::pair<std::string_view, uint32_t>> seen;
  for (const Field& field : fields()) {
    EXPECT_TRUE(seen.emplace(field.name, field.endpoints).second) << field.name << " twice";
    std::string of;
    for (const auto& [endpoint, word] : kEndpoints) {
      if ((field.endpoints & endpoint) != 0) of += (of.empty() ? "" : ", ") + std::string(word);
    }
    table += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name, of, expected_of(field),
                         field.fallback, field.meaning);
  }
  std::ifstream file(TOKAMAK_SOURCE_DIR "/docs/tables/fields.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(table), std::string::npos) << "docs/tables/fields.md should have\n"
                                                       << table;
}

}  // namespace
}  // namespace tokamak::protocol
