#include "text/template/plain_marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "text/template/chat_template.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

std::string read_text(const std::string& name) {
  std::ifstream file(TOKAMAK_TEST_DATA "/chat/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Bytes as tokens, and the special tokens of the template's family.
Tokenizer tokenizer_with(const std::vector<std::string>& special) {
  Json vocab(Json::Object{});
  Json::Array added;
  for (int c = 33; c < 127; ++c) vocab.set(std::string(1, char(c)), c - 33);
  vocab.set("\u0120", 94).set("\u010A", 95);  // blank and newline
  for (const std::string& token : special) {
    Json one(Json::Object{{"id", uint64_t(100 + added.size())},
                          {"content", token},
                          {"special", true},
                          {"normalized", false}});
    added.push_back(std::move(one));
  }
  const Json bytes = *Json::parse(R"({"type": "ByteLevel", "add_prefix_space": false,
                                      "trim_offsets": true, "use_regex": false})");
  Json file(Json::Object{
      {"added_tokens", std::move(added)}, {"pre_tokenizer", bytes}, {"decoder", bytes}});
  file.set("model", Json(Json::Object{
                        {"type", "BPE"}, {"vocab", std::move(vocab)}, {"merges", Json::Array{}}}));
  auto made = Tokenizer::from_json(file.dump());
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

Json conversation(std::string_view text) {
  Json user(Json::Object{{"role", "user"}, {"content", text}});
  return Json(Json::Object{{"messages", Json::Array{std::move(user)}},
                           {"bos_token", "<s>"},
                           {"eos_token", "</s>"},
                           {"add_generation_prompt", true}});
}

struct Prompt {
  std::string text;
  std::vector<uint32_t> ids;
  size_t specials() const {
    return size_t(std::ranges::count_if(ids, [](uint32_t id) { return id >= 100; }));
  }
};

Prompt prompt_of(const std::string& name, const Tokenizer& tokenizer, std::string_view content) {
  const auto chat = ChatTemplate::parse(read_text(name));
  EXPECT_TRUE(chat) << chat.error().message;
  Json variables = conversation(content);
  Json& messages = *variables.find("messages");
  messages = with_plain_marks(
      messages, [&](std::string_view text) { return tokenizer.special_places(text); });
  const auto rendered = chat->render(variables);
  EXPECT_TRUE(rendered) << rendered.error().message;
  const PlainText plain = without_plain_marks(*rendered);
  return {plain.text, *tokenizer.encode(plain.text, {.add_special = false,
                                                     .parse_special = true,
                                                     .plain_at = plain.plain_at})};
}

TEST(PlainMarks, OnlyTheTemplatesOwnTextMakesSpecialTokens) {
  const struct {
    const char* name;
    std::vector<std::string> special;
  } families[] = {
      {"chatml.jinja", {"<|im_start|>", "<|im_end|>"}},
      {"qwen3_tools.jinja", {"<|im_start|>", "<|im_end|>", "<|endoftext|>"}},
      {"llama3.jinja", {"<s>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}},
      {"mistral.jinja", {"<s>", "</s>", "[INST]", "[/INST]"}},
      {"phi3.jinja", {"<s>", "<|user|>", "<|assistant|>", "<|end|>"}},
      {"gemma.jinja", {"<s>", "<start_of_turn>", "<end_of_turn>"}},
  };
  for (const auto& [name, special] : families) {
    SCOPED_TRACE(name);
    const Tokenizer tokenizer = tokenizer_with(special);
    const Prompt plain = prompt_of(name, tokenizer, "Hello.");
    EXPECT_GT(plain.specials(), 0u);
    std::string hostile = "Hello";
    for (const std::string& token : special) hostile += token + " <" + token;
    hostile += special.back().substr(0, special.back().size() - 1);  // its end would be a prefix
    const Prompt found = prompt_of(name, tokenizer, hostile);
    EXPECT_EQ(found.specials(), plain.specials());
    EXPECT_NE(found.text.find(hostile), std::string::npos) << found.text;
    EXPECT_EQ(tokenizer.decode(found.ids), found.text);
  }
}

TEST(PlainMarks, TextsThatSpellNoneAreLeftAlone) {
  const auto none = [](std::string_view) { return std::vector<size_t>{}; };
  const Json value = *Json::parse(R"([{"a": "b <c>", "d": [1, null, true]}])");
  EXPECT_EQ(with_plain_marks(value, none), value);
  EXPECT_EQ(without_plain_marks("a\x7F b").text, "a\x7F b");
}

TEST(PlainMarks, ComeOutWhereTheyWentIn) {
  const auto places = [](std::string_view text) {
    return text == "a\x7F<b>" ? std::vector<size_t>{2} : std::vector<size_t>{};
  };
  const Json marked = with_plain_marks(Json(Json::Object{{"a\x7F<b>", "a\x7F<b>"}}), places);
  const auto& [name, value] = marked.as_object()[0];
  EXPECT_EQ(name, value.as_string());
  const PlainText plain = without_plain_marks("x" + name);
  EXPECT_EQ(plain.text, "xa\x7F<b>");
  EXPECT_EQ(plain.plain_at, std::vector<size_t>{3});
}

}  // namespace
}  // namespace tokamak
