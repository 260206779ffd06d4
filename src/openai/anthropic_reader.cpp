// The body of Anthropic's Messages: blocks in place of texts, results of tools in the user's turn.
#include "openai/image_parts.h"
#include "openai/readers.h"

namespace tokamak::openai {
namespace {

constexpr std::string_view kField = "messages";

std::string type_of(const Json& block) {
  const Json* type = block.find("type");
  return type != nullptr && type->is_string() ? type->as_string() : "";
}

/// A turn while its blocks are read.
struct Turn {
  std::string text;
  Json::Array parts;  // the same with the images
  bool has_image = false;
  Json::Array calls, results;

  void add_text(const std::string& more) {
    text += (text.empty() ? "" : "\n") + more;
    parts.push_back(text_part(more));
  }
  Json content() { return has_image ? Json(std::move(parts)) : Json(std::move(text)); }
};

/// An image's block as a part of OpenAI's.
Answer<Json> image_of(const Json& block, const std::string& where) {
  const Json* source = block.find("source");
  const Json none;
  const std::string type = type_of(source == nullptr ? none : *source);
  if (type == "base64") {
    TOK_TRY(const std::string media, text_member(*source, "media_type", kField, where + ".source"));
    TOK_TRY(const std::string data, text_member(*source, "data", kField, where + ".source"));
    return image_part(data_url(media, data));
  }
  if (type == "url") {
    TOK_TRY(std::string url, text_member(*source, "url", kField, where + ".source"));
    return image_part(std::move(url));
  }
  return wrong(kField, "{}.source is {}, expected the type \"base64\", with media_type and data.",
               where, source == nullptr ? "missing" : quoted(*source));
}

Answer<void> add_block(const Json& block, const std::string& where, Turn& turn) {
  const std::string type = type_of(block);
  if (type == "text") {
    TOK_TRY(const std::string text, text_member(block, "text", kField, where));
    turn.add_text(text);
  } else if (type == "image") {
    TOK_TRY(Json part, image_of(block, where));
    turn.parts.push_back(std::move(part));
    turn.has_image = true;
  } else if (type == "tool_use") {
    TOK_TRY(const std::string id, text_member(block, "id", kField, where));
    TOK_TRY(const std::string name, text_member(block, "name", kField, where));
    const Json* input = block.find("input");
    if (input != nullptr && !input->is_object()) {
      return wrong(kField, "{}.input is {}, expected an object.", where, kind_name(input->kind()));
    }
    turn.calls.push_back(call_json(id, name, input == nullptr ? Json(Json::Object{}) : *input));
  } else if (type == "tool_result") {
    TOK_TRY(const std::string id, text_member(block, "tool_use_id", kField, where));
    const Json* content = block.find("content");
    std::string text;
    if (content != nullptr && !content->is_null()) {
      TOK_TRY(text, parts_text(*content, kField, where + ".content", {"text"}));
    }
    turn.results.push_back(message_json("tool", std::move(text)));
    turn.results.back().set("tool_call_id", id);
  } else if (type != "thinking" && type != "redacted_thinking") {
    return wrong(kField,
                 "{} is {}, expected a block of the type \"text\", \"image\", \"tool_use\" "
                 "or \"tool_result\".",
                 where, quoted(block));
  }
  return {};
}

Answer<void> add_message(const Json& message, const std::string& where, Json::Array& out) {
  TOK_TRY(const std::string role, text_member(message, "role", kField, where));
  if (role != "user" && role != "assistant") {
    return wrong(kField, "{}.role is {}, expected \"user\" or \"assistant\".", where, quoted(role));
  }
  const Json* content = message.find("content");
  if (content == nullptr) return wrong(kField, "{}.content is missing.", where);
  Turn turn;
  if (content->is_string()) {
    turn.text = content->as_string();
  } else if (content->is_array()) {
    const Json::Array& blocks = content->as_array();
    for (size_t i = 0; i < blocks.size(); ++i) {
      TOK_TRY(add_block(blocks[i], fmt::format("{}.content[{}]", where, i), turn));
    }
  } else {
    return wrong(kField, "{}.content is {}, expected a text or a list of blocks.", where,
                 kind_name(content->kind()));
  }
  const bool has_results = !turn.results.empty();
  for (Json& result : turn.results) out.push_back(std::move(result));
  if (has_results && turn.text.empty() && !turn.has_image) return {};
  out.push_back(message_json(role, turn.content()));
  for (Json& call : turn.calls) add_call(out, std::move(call));
  return {};
}

Answer<void> read_tools(Fields& fields) {
  if (!fields.tools.is_array()) return {};
  Json::Array tools;
  for (const Json& tool : fields.tools.as_array()) {
    const std::string type = type_of(tool);
    if (!tool.is_object() || (!type.empty() && type != "custom")) {
      return wrong("tools", "tools[{}] is {}, expected a name and an input_schema.", tools.size(),
                   quoted(tool));
    }
    tools.push_back(tool_json(tool, "input_schema"));
  }
  fields.tools = std::move(tools);
  return {};
}

Answer<void> read_choice(Fields& fields) {
  const Json choice = fields.tool_choice;
  if (choice.is_null()) return {};
  const std::string type = type_of(choice);
  if (type == "auto" || type == "none") {
    fields.tool_choice = type;
  } else if (type == "any") {
    fields.tool_choice = "required";
  } else if (type == "tool") {
    TOK_TRY(const std::string name, text_member(choice, "name", "tool_choice", "tool_choice"));
    Json function(Json::Object{{"name", name}});
    fields.tool_choice =
        Json(Json::Object{{"type", "function"}, {"function", std::move(function)}});
  } else {
    return wrong("tool_choice", "tool_choice is {}, expected the type {}.", quoted(choice),
                 "\"auto\", \"any\", \"tool\" or \"none\"");
  }
  const Json* one_only = choice.find("disable_parallel_tool_use");
  if (one_only != nullptr && one_only->is_bool()) fields.parallel_tool_calls = !one_only->as_bool();
  return {};
}

}  // namespace

Answer<void> read_anthropic(Fields& fields, bool needs_max_tokens) {
  if (needs_max_tokens && !fields.max_tokens) {
    return wrong("max_tokens", "max_tokens is missing.");
  }
  if (fields.messages.is_null()) return wrong("messages", "messages is missing.");
  Json::Array messages;
  if (!fields.system.is_null()) {
    TOK_TRY(std::string text, parts_text(fields.system, "system", "system", {"text"}));
    if (!text.empty()) messages.push_back(message_json("system", std::move(text)));
  }
  const Json::Array& turns = fields.messages.as_array();
  if (turns.empty()) return wrong("messages", "messages is empty, expected at least one.");
  for (size_t i = 0; i < turns.size(); ++i) {
    TOK_TRY(add_message(turns[i], fmt::format("messages[{}]", i), messages));
  }
  fields.messages = std::move(messages);
  TOK_TRY(read_tools(fields));
  return read_choice(fields);
}

}  // namespace tokamak::openai
