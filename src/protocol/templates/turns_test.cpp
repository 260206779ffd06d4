#include "protocol/templates/turns.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/engine.h"
#include "protocol/service/text_body_reader.h"
#include "protocol/templates/chat_form.h"

namespace tokamak::protocol {
namespace {

ModelFiles files_with(std::string chat_template) {
  ModelFiles files;
  files.chat_template = std::move(chat_template);
  files.tokenizer_config = R"({"bos_token": "<s>", "eos_token": "</s>"})";
  return files;
}

ModelFiles files_of(const std::string& name) {
  std::ifstream file(TOKAMAK_TEST_DATA "/chat/" + name, std::ios::binary);
  return files_with(std::string(std::istreambuf_iterator<char>(file), {}));
}

constexpr const char* kFirstSystemOnly =
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('no') }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}";

std::string template_text(const ModelFiles& files) {
  return chat_template_named(files, "default").value_or("");
}

TurnRules rules_of(const ModelFiles& files) {
  return find_turn_rules(files, template_text(files));
}

/// The conversation as the template gets it.
Json fitted(const ModelFiles& files, std::string_view messages) {
  Json all = *Json::parse(messages);
  fit_turns(all.as_array(), rules_of(files));
  return all;
}

Json json(std::string_view text) {
  return *Json::parse(text);
}

TEST(Turns, MessagesOfTheSystemAtTheBeginningAreOne) {
  const Json found = fitted(files_of("chatml.jinja"), R"([
      {"role": "system", "content": "A"}, {"role": "system", "content": ""},
      {"role": "system", "content": "B"}, {"role": "user", "content": "C"},
      {"role": "system", "content": "D"}])");
  EXPECT_EQ(found, json(R"([{"role": "system", "content": "A\n\nB"},
      {"role": "user", "content": "C"}, {"role": "system", "content": "D"}])"));
}

TEST(Turns, LaterMessagesOfTheSystemMoveWhereTheTemplateHasNoPlaceForThem) {
  EXPECT_FALSE(rules_of(files_with(kFirstSystemOnly)).has_late_system);
  const Json found = fitted(files_with(kFirstSystemOnly), R"([
      {"role": "user", "content": "C"}, {"role": "system", "content": "D"}])");
  EXPECT_EQ(found,
            json(R"([{"role": "system", "content": "D"}, {"role": "user", "content": "C"}])"));
}

TEST(Turns, WithoutAPlaceForTheSystemTheUserSaysIt) {
  const ModelFiles files = files_with(
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
      "<{{ m.role }}>{{ m.content }}{% endfor %}");
  EXPECT_FALSE(rules_of(files).has_system);
  const Json found = fitted(files, R"([
      {"role": "system", "content": "A"}, {"role": "user", "content": "B"}])");
  EXPECT_EQ(found, json(R"([{"role": "user", "content": "A\n\nB"}])"));
}

TEST(Turns, ThatMustAlternateBecomeOne) {
  const Json found = fitted(files_of("gemma.jinja"), R"([
      {"role": "user", "content": "A"}, {"role": "user", "content": "B"},
      {"role": "assistant", "content": "C", "reasoning_content": "hm"},
      {"role": "assistant", "content": "", "reasoning_content": "so", "tool_calls": [1]},
      {"role": "user", "content": "D"}])");
  EXPECT_EQ(found, json(R"([{"role": "user", "content": "A\n\nB"},
      {"role": "assistant", "content": "C", "tool_calls": [1], "reasoning_content": "hm\nso"},
      {"role": "user", "content": "D"}])"));
  EXPECT_EQ(fitted(files_of("chatml.jinja"), R"([
      {"role": "user", "content": "A"}, {"role": "user", "content": "B"}])")
                .as_array()
                .size(),
            2u);
}

TEST(Turns, OfTheUserAfterAResultBelongToItWhereTheTemplateWantsAnAnswerFirst) {
  EXPECT_FALSE(rules_of(files_of("mistral.jinja")).has_user_after_tool);
  const Json found = fitted(files_of("mistral.jinja"), R"([
      {"role": "user", "content": "A"},
      {"role": "tool", "content": "B", "tool_call_id": "1"}, {"role": "user", "content": "C"}])");
  EXPECT_EQ(*found.as_array()[1].find("content"), Json("B\n\nC"));
}

TEST(Turns, ImagesOfResultsFollowThemWhereTheTemplateShowsNone) {
  constexpr const char* kMessages = R"([
      {"role": "tool", "tool_call_id": "1",
       "content": [{"type": "text", "text": "A"}, {"type": "image"}]},
      {"role": "tool", "tool_call_id": "2", "content": "B"}, {"role": "assistant", "content": "C"}])";
  EXPECT_EQ(fitted(files_of("chatml.jinja"), kMessages), json(R"([
      {"role": "tool", "tool_call_id": "1", "content": "A\n[image]"},
      {"role": "tool", "tool_call_id": "2", "content": "B"},
      {"role": "user", "content": [{"type": "image"}]}, {"role": "assistant", "content": "C"}])"));
  const ModelFiles shows = files_with(
      "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
      "{% for p in m.content %}{% if p.type == 'image' %}<image>{% else %}{{ p.text }}{% endif %}"
      "{% endfor %}{% endif %}{% endfor %}");
  EXPECT_TRUE(rules_of(shows).has_tool_images);
  EXPECT_EQ(fitted(shows, kMessages), json(kMessages));
}

TEST(Turns, ThoughtsHaveTheNameThatTheTemplateReads) {
  const ModelFiles files =
      files_with("{% for m in messages %}{{ m.thinking }}{{ m.content }}{% endfor %}");
  EXPECT_EQ(fitted(files, R"([{"role": "assistant", "content": "A", "reasoning_content": "hm",
                               "tool_calls": [1]}])"),
            json(R"([{"role": "assistant", "content": "", "tool_calls": [1],
                      "thinking": "hm\nA"}])"));
}

Json variables_with(const ModelFiles& files, std::string_view members) {
  const auto body = read_text_body(
      fmt::format(R"({{"messages": [{{"role": "user", "content": "a"}}], {}}})", members), kChat);
  EXPECT_TRUE(body) << body.error().message;
  const ChatForm form = find_chat_form(files, nullptr);
  return *chat_prompt_variables(body->fields, form);
}

std::string effort_of(const ModelFiles& files, std::string_view members) {
  const Json variables = variables_with(files, members);
  const Json* found = variables.find("reasoning_effort");
  return found == nullptr ? "unset" : found->as_string();
}

TEST(Thinking, AnEffortIsTheNearestThatTheTemplateKnows) {
  const ModelFiles usual = files_with("{{ reasoning_effort }}{{ messages[0].content }}");
  const ModelFiles two = files_with(
      "{% if reasoning_effort not in ['none', 'high'] %}{{ raise_exception('no') }}{% endif %}"
      "{{ reasoning_effort }}{{ messages[0].content }}");
  const ModelFiles without = files_with("{{ messages[0].content }}");
  const struct {
    const char *asked, *usual, *two;
  } cases[] = {{"none", "low", "none"},      {"minimal", "low", "none"}, {"low", "low", "high"},
               {"medium", "medium", "high"}, {"high", "high", "high"},   {"max", "high", "high"}};
  for (const auto& one : cases) {
    const std::string field = fmt::format(R"("reasoning_effort": "{}")", one.asked);
    EXPECT_EQ(effort_of(usual, field), one.usual) << one.asked;
    EXPECT_EQ(effort_of(two, field), one.two) << one.asked;
    EXPECT_EQ(effort_of(without, field), "unset");
  }
  EXPECT_EQ(effort_of(two, R"("enable_thinking": false)"), "none");
  EXPECT_EQ(effort_of(usual, R"("reasoning_effort": "high",
                                "chat_template_kwargs": {"reasoning_effort": "mine"})"),
            "mine");
}

TEST(Thinking, IsTurnedOffByTheLeastEfforts) {
  const ModelFiles files = files_with("{{ enable_thinking }}{{ messages[0].content }}");
  for (const char* effort : {"none", "minimal"}) {
    const Json found = variables_with(files, fmt::format(R"("reasoning_effort": "{}")", effort));
    EXPECT_EQ(*found.find("enable_thinking"), Json(false)) << effort;
  }
  EXPECT_EQ(variables_with(files, R"("reasoning_effort": "low")").find("enable_thinking"), nullptr);
  EXPECT_EQ(*variables_with(files, R"("reasoning_effort": "none",
                                      "chat_template_kwargs": {"enable_thinking": true})")
                 .find("enable_thinking"),
            Json(true));
}

}  // namespace
}  // namespace tokamak::protocol
