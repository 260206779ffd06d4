#include "openai/tool_calls.h"

#include <gtest/gtest.h>

namespace tokamak::openai {
namespace {

struct Read {
  std::string content;
  std::vector<ToolCall> calls;
  bool operator==(const Read&) const = default;
};

void add(Read& all, ToolCallReader::Piece piece) {
  all.content += piece.content;
  all.calls.insert(all.calls.end(), piece.calls.begin(), piece.calls.end());
}

/// The text in pieces of `size` bytes.
Read read(ToolFormat format, std::string_view text, size_t size) {
  ToolCallReader reader(format);
  Read all;
  for (size_t i = 0; i < text.size(); i += size) add(all, reader.push(text.substr(i, size)));
  add(all, reader.finish());
  return all;
}

void expect_in_any_pieces(ToolFormat format, std::string_view text, const Read& expected) {
  for (size_t size = 1; size <= text.size(); ++size) {
    const Read all = read(format, text, size);
    EXPECT_EQ(all.content, expected.content) << size << ": " << text;
    EXPECT_EQ(all.calls, expected.calls) << size << ": " << text;
  }
}

TEST(ToolCalls, TextWithoutCallsStaysAsItIs) {
  for (const auto format : {ToolFormat::kNone, ToolFormat::kHermes, ToolFormat::kLlama3}) {
    expect_in_any_pieces(format, "a < b, and <tool_box> ", {"a < b, and <tool_box> ", {}});
  }
  expect_in_any_pieces(ToolFormat::kNone, "<tool_call>{\"name\": \"f\"}</tool_call>",
                       {"<tool_call>{\"name\": \"f\"}</tool_call>", {}});
}

TEST(ToolCalls, HermesWritesThemBetweenTags) {
  expect_in_any_pieces(
      ToolFormat::kHermes,
      "Yes.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"</x>\"}}\n</tool_call>\n"
      "<tool_call>\n{\"name\": \"g\"}\n</tool_call>\n",
      {"Yes.\n", {{"f", R"({"a": "</x>"})"}, {"g", "{}"}}});
}

TEST(ToolCalls, WhatIsNoCallIsContent) {
  for (const std::string text :
       {"<tool_call>{\"name\": }</tool_call> end", "<tool_call>{\"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>",
        "<tool_call>{\"name\": \"f"}) {
    expect_in_any_pieces(ToolFormat::kHermes, text, {text, {}});
  }
  for (const std::string text : {"{\"name\": 1}", "{\"name\": \"f\", \"parameters\"", " {", "{}"}) {
    expect_in_any_pieces(ToolFormat::kLlama3, text, {text, {}});
  }
}

TEST(ToolCalls, ACallWhoseEndTagIsMissingIsOne) {
  expect_in_any_pieces(ToolFormat::kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {}}",
                       {"", {{"f", "{}"}}});
}

TEST(ToolCalls, Llama3WritesOneAsTheWholeMessage) {
  expect_in_any_pieces(ToolFormat::kLlama3, "\n{\"name\": \"f\", \"parameters\": {\"n\": 1}}",
                       {"", {{"f", R"({"n": 1})"}}});
  expect_in_any_pieces(ToolFormat::kLlama3, "See: {\"name\": \"f\", \"parameters\": {}}",
                       {"See: {\"name\": \"f\", \"parameters\": {}}", {}});
}

TEST(ToolCalls, TheTemplateSaysWhichFormat) {
  EXPECT_EQ(tool_format_of("<tool_call>\n{\"name\": ..., \"arguments\": ...}\n</tool_call>"),
            ToolFormat::kHermes);
  EXPECT_EQ(tool_format_of("<tool_call><function=f> \"arguments\""), ToolFormat::kNone);
  EXPECT_EQ(tool_format_of("Environment: ipython ... \"parameters\": "), ToolFormat::kLlama3);
  EXPECT_EQ(tool_format_of("{{ messages[0].content }}"), ToolFormat::kNone);
}

}  // namespace
}  // namespace tokamak::openai
