// Every rendering and every expected error of the reference, from tests/data/chat.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "text/template/chat_template.h"
#include "text/template/filters.h"

namespace tokamak {
namespace {

std::string read_text(const std::string& name) {
  std::ifstream file(std::string(TOKAMAK_TEST_DATA) + "/chat/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The reference's variables for a case: conversation, special tokens, options.
Json variables_of(const Json& golden, const Json& test) {
  Json variables(Json::Object{});
  const Json& conversation =
      *golden.find("conversations")->find(test.find("conversation")->as_string());
  variables.set("messages", *conversation.find("messages"));
  if (const Json* tools = conversation.find("tools")) variables.set("tools", *tools);
  const Json& about = *golden.find("templates")->find(test.find("template")->as_string());
  for (const auto& [name, token] : about.find("special_tokens")->as_object()) {
    variables.set(name, token);
  }
  for (const auto& [name, value] : test.find("options")->as_object()) variables.set(name, value);
  return variables;
}

TEST(ChatTemplateGolden, EveryCaseAgreesWithTheReference) {
  const auto golden = Json::parse(read_text("golden.json"));
  ASSERT_TRUE(golden) << golden.error().message;
  size_t renderings = 0;
  size_t errors = 0;
  for (const Json& test : golden->find("cases")->as_array()) {
    const std::string& name = test.find("template")->as_string();
    SCOPED_TRACE(name + " / " + test.find("conversation")->as_string() + " / " +
                 test.find("options")->dump());
    const auto parsed = ChatTemplate::parse(read_text(name + ".jinja"));
    ASSERT_TRUE(parsed) << parsed.error().message;
    const auto rendered = parsed->render(variables_of(*golden, test));
    if (const Json* expected = test.find("rendered")) {
      ++renderings;
      ASSERT_TRUE(rendered) << rendered.error().message;
      EXPECT_EQ(*rendered, expected->as_string());
      continue;
    }
    ++errors;
    ASSERT_FALSE(rendered) << *rendered;
    EXPECT_EQ(rendered.error().code, ErrorCode::kInvalidInput);
    EXPECT_TRUE(rendered.error().message.starts_with("chat_template: line "))
        << rendered.error().message;
    const std::string& error = test.find("error")->as_string();
    const std::string_view type = "TemplateError: ";
    if (error.starts_with(type)) {  // from raise_exception: the message as it stands
      const std::string raised = std::string(jinja::kRaisedPrefix) + error.substr(type.size());
      EXPECT_TRUE(rendered.error().message.ends_with(": " + raised)) << rendered.error().message;
    } else {
      EXPECT_TRUE(rendered.error().message.ends_with(error.substr(error.find(": ") + 2)))
          << rendered.error().message;
    }
  }
  EXPECT_EQ(renderings, 347u);
  EXPECT_EQ(errors, 22u);
}

TEST(ChatTemplateGolden, TheBuiltInModelsTemplateRenders) {
  const auto parsed = ChatTemplate::parse(read_text("storyteller.jinja"));
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto chat = Json::parse(R"({"bos_token": "<bos>", "add_generation_prompt": true,
      "messages": [{"role": "system", "content": "Be kind."},
                   {"role": "user", "content": " Tell a story. "},
                   {"role": "assistant", "content": [{"type": "text", "text": "Once."}]},
                   {"role": "user", "content": "More!"}]})");
  EXPECT_EQ(parsed->render(*chat),
            "<bos><start_of_turn>user\nBe kind.\n\nTell a story.<end_of_turn>\n"
            "<start_of_turn>model\nOnce.<end_of_turn>\n"
            "<start_of_turn>user\nMore!<end_of_turn>\n<start_of_turn>model\n");
}

}  // namespace
}  // namespace tokamak
