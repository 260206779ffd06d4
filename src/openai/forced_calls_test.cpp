// A call that is demanded, from a model whose template knows no tools.
#include "openai/service_fixture_test.h"

namespace tokamak::openai {
namespace {

TEST(ForcedCalls, TheAnswerIsACall) {
  auto engine = Engine::open({.model = kModel, .backend = "cpu", .context = 320, .sequences = 1});
  ASSERT_TRUE(engine) << engine.error().message;
  uint64_t drawn = 0;
  auto service = Service::make(**engine, {.model = "storyteller",
                                          .created = 0,
                                          .unix_seconds = [] { return int64_t{0}; },
                                          .random = [&] { return ++drawn; }});
  ASSERT_TRUE(service);
  // Quotes and braces are made likely: this model knows stories, not JSON.
  Json bias(Json::Object{});
  const Tokenizer* tokenizer = *(*engine)->tokenizer();
  for (uint32_t id = 0; id < tokenizer->vocab_size(); ++id) {
    const std::string bytes = tokenizer->bytes(id);
    if (bytes == "}" || bytes == "\n" || bytes == "</") bias.set(std::to_string(id), 100);
  }
  Json body = *Json::parse(R"({"messages": [{"role": "user", "content": "Hello."}],
      "tools": [{"type": "function", "function": {"name": "greet"}}],
      "tool_choice": {"type": "function", "function": {"name": "greet"}},
      "temperature": 0, "max_tokens": 60})");
  body.set("logit_bias", std::move(bias));
  Json answer;
  Sink sink;
  sink.begin = [](int status, std::string_view) { EXPECT_EQ(status, 200); };
  sink.write = [&](std::string_view text) { answer = Json::parse(text).value_or(Json(text)); };
  sink.end = [] {};
  (*service)->begin({"POST", std::string(kChatPath), body.dump()}, sink);
  ASSERT_TRUE((*(*engine)->scheduler())->run());
  ASSERT_NE(answer.find("choices"), nullptr) << answer.dump();
  const Json& message = at(choice_at(answer, 0), "message");
  EXPECT_TRUE(at(message, "content").is_null()) << answer.dump();
  const Json& call = at(message, "tool_calls").as_array().at(0);
  EXPECT_EQ(at(at(call, "function"), "name"), Json("greet"));
  EXPECT_EQ(at(at(call, "function"), "arguments"), Json("{}"));
  EXPECT_EQ(finish_at(answer, 0), "tool_calls");
}

}  // namespace
}  // namespace tokamak::openai
