#include "protocol/output/answer_reader.h"

#include <gtest/gtest.h>

#include "protocol/service/exchange_fixture_test.h"

namespace tokamak::protocol {
namespace {

std::vector<uint32_t> ids_of(std::string_view text) {
  return *tokenizer().encode(text, {.add_special = false});
}

struct Read {
  std::string reasoning, content, shown, stop;
  size_t tokens = 0;
};

/// Reads the tokens of a text whose marks are texts.
Read read(const ChatForm& chat, std::string_view prompt, std::string_view text,
          std::vector<std::string> stop = {}) {
  std::string shown;
  AnswerReader reader(tokenizer(), reasoning_format(chat, prompt), chat.marks, std::move(stop), {},
                      [&](bool is_reasoning, std::string_view more) {
                        shown +=
                            std::string(is_reasoning ? "r" : "c") + "(" + std::string(more) + ")";
                      });
  for (const uint32_t id : ids_of(text)) reader.take(id);
  reader.finish();
  return {reader.reasoning(), reader.content(), shown, reader.stop(), reader.tokens()};
}

ChatForm thinking() {
  ChatForm chat;
  chat.reasoning_open = "<think>";
  chat.reasoning_close = "</think>";
  return chat;
}

TEST(AnswerReader, SeparatesReasoningFromTheAnswer) {
  const Read whole = read(thinking(), "user: Hello\n", "<think>\nLong ago.\n</think>\n\nA fox.");
  EXPECT_EQ(whole.reasoning, "Long ago.");
  EXPECT_EQ(whole.content, "A fox.");
  const Read opened = read(thinking(), "assistant: <think>\n", "Long ago.</think>A fox.");
  EXPECT_EQ(opened.reasoning, "Long ago.");
  EXPECT_EQ(opened.content, "A fox.");
  const Read plain = read(ChatForm(), "assistant: <think>\n", "Long ago.</think>A fox.");
  EXPECT_EQ(plain.reasoning, "");
  EXPECT_EQ(plain.content, "Long ago.</think>A fox.");
}

TEST(AnswerReader, GivesCallsWhereTheFormHasThem) {
  const std::string call =
      R"(<tool_call>{"name": "time", "arguments": {"zone": "UTC"}}</tool_call>)";
  const ChatForm chat = thinking();
  OutputFormat form = reasoning_format(chat, "");
  form.tools = &tool_families().front();
  form.tool_list = *Json::parse(R"([{"type": "function", "function": {"name": "time"}}])");
  AnswerReader reader(tokenizer(), form, chat.marks, {}, {}, [](bool, std::string_view) {});
  for (const uint32_t id : ids_of("<think>Hm.</think>" + call + call.substr(0, 30)))
    reader.take(id);
  const std::vector<ToolCall> calls = reader.take_calls();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].name, "time");
  EXPECT_EQ(*Json::parse(calls[0].arguments), *Json::parse(R"({"zone": "UTC"})"));
  reader.finish(/*is_cut=*/true);
  EXPECT_TRUE(reader.take_calls().empty());
  EXPECT_EQ(reader.reasoning(), "Hm.");
  EXPECT_EQ(reader.content(), call.substr(0, 30));
  EXPECT_EQ(read(chat, "", call).content, call);
}

TEST(AnswerReader, LooksForStopTextsInTheAnswerOnly) {
  const Read one = read(thinking(), "", "<think>a fox</think>A cat, a fox, a hen.", {"fox", "hen"});
  EXPECT_EQ(one.reasoning, "a fox");
  EXPECT_EQ(one.content, "A cat, a ");
  EXPECT_EQ(one.stop, "fox");
  const size_t all = ids_of("<think>a fox</think>A cat, a fox, a hen.").size();
  EXPECT_LT(one.tokens, all);
  EXPECT_EQ(read(thinking(), "", "<think>a fox</think>A cat.", {"fox"}).stop, "");
}

TEST(AnswerReader, ReadsAMarkThatIsATokenAsOne) {
  ChatForm chat = thinking();
  chat.marks = {{300, "<think>", true}, {301, "</think>", true}};
  AnswerReader reader(tokenizer(), reasoning_format(chat, ""), chat.marks, {}, {2},
                      [](bool, std::string_view) {});
  reader.take(300);
  for (const uint32_t id : ids_of("no </think> yet")) reader.take(id);
  EXPECT_TRUE(reader.is_reasoning());
  reader.take(301);
  for (const uint32_t id : ids_of("A fox.")) reader.take(id);
  reader.take(2);
  reader.finish();
  EXPECT_EQ(reader.reasoning(), "no </think> yet");
  EXPECT_EQ(reader.content(), "A fox.");
}

}  // namespace
}  // namespace tokamak::protocol
