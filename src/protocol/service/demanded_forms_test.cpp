// An answer in a form that is demanded: JSON, or a call of a model whose template knows no tools.
#include "protocol/service/service_fixture_test.h"

namespace tokamak::protocol {
namespace {

/// The first choice of the answer to `body`.
Json choice_of(Json body, std::string_view likely) {
  auto engine = Engine::open({.model = kModel, .backend = "cpu", .context = 320, .sequences = 1});
  EXPECT_TRUE(engine) << engine.error().message;
  uint64_t drawn = 0;
  auto service = Service::make(**engine, {.model = "storyteller",
                                          .created = 0,
                                          .unix_seconds = [] { return int64_t{0}; },
                                          .random = [&] { return ++drawn; }});
  EXPECT_TRUE(service);
  // Quotes and braces are made likely: this model knows stories, not JSON.
  Json bias(Json::Object{});
  const Tokenizer* tokenizer = *(*engine)->tokenizer();
  for (uint32_t id = 0; id < tokenizer->vocab_size(); ++id) {
    const std::string bytes = tokenizer->bytes(id);
    if (!bytes.empty() && likely.find(bytes) != likely.npos) bias.set(std::to_string(id), 100);
  }
  body.set("messages", *Json::parse(R"([{"role": "user", "content": "Hello."}])"));
  body.set("temperature", 0);
  body.set("max_tokens", 90);
  body.set("logit_bias", std::move(bias));
  Json answer;
  Sink sink;
  sink.begin = [](int status, std::string_view) { EXPECT_EQ(status, 200); };
  sink.write = [&](std::string_view text) { answer = Json::parse(text).value_or(Json(text)); };
  sink.end = [] {};
  (*service)->begin({"POST", std::string(kChatPath), body.dump()}, sink);
  EXPECT_TRUE((*(*engine)->scheduler())->run());
  EXPECT_NE(answer.find("choices"), nullptr) << answer.dump();
  return answer.find("choices") == nullptr ? Json() : choice_at(answer, 0);
}

TEST(DemandedForms, TheAnswerIsACallWhoseArgumentsSatisfyTheirSchema) {
  const Json choice = choice_of(*Json::parse(R"({
      "tools": [{"type": "function", "function": {"name": "greet", "parameters": {
          "type": "object", "properties": {"who": {"enum": ["king", "queen"]}},
          "required": ["who"], "additionalProperties": false}}}],
      "tool_choice": {"type": "function", "function": {"name": "greet"}}})"),
                                "}\"</");
  const Json& message = at(choice, "message");
  EXPECT_TRUE(at(message, "content").is_null()) << choice.dump();
  const Json& function = at(at(message, "tool_calls").as_array().at(0), "function");
  EXPECT_EQ(at(function, "name"), Json("greet"));
  const auto arguments = Json::parse(at(function, "arguments").as_string());
  ASSERT_TRUE(arguments) << choice.dump();
  const Json& who = at(*arguments, "who");
  EXPECT_TRUE(who == Json("king") || who == Json("queen")) << choice.dump();
  EXPECT_EQ(at(choice, "finish_reason"), Json("tool_calls"));
}

TEST(DemandedForms, TheAnswerSatisfiesASchema) {
  const Json choice = choice_of(*Json::parse(R"({"response_format": {"type": "json_schema",
      "json_schema": {"name": "answer", "schema": {
          "type": "object", "properties": {"mood": {"enum": ["glad", "sad"]}},
          "required": ["mood"], "additionalProperties": false}}}})"),
                                "}");
  const auto answer = Json::parse(at(at(choice, "message"), "content").as_string());
  ASSERT_TRUE(answer) << choice.dump();
  EXPECT_TRUE(at(*answer, "mood") == Json("glad") || at(*answer, "mood") == Json("sad"));
  EXPECT_EQ(at(choice, "finish_reason"), Json("stop"));
}

TEST(DemandedForms, TheAnswerIsWhatARegularExpressionDescribes) {
  const Json choice = choice_of(*Json::parse(R"({"regex": "(yes|no)!"})"), "");
  const Json& content = at(at(choice, "message"), "content");
  EXPECT_TRUE(content == Json("yes!") || content == Json("no!")) << choice.dump();
}

}  // namespace
}  // namespace tokamak::protocol
