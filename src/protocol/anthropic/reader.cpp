// The body of Anthropic's Messages: blocks in place of texts, results of tools in the user's turn.
#include "protocol/anthropic/reader.h"

#include "protocol/chat/chat_parts.h"
#include "protocol/chat/content_parts.h"
#include "protocol/chat/schemas.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kField = "messages";

/// A turn while its blocks are read.
struct Turn {
  std::string role, reasoning;
  Json::Array parts;  // texts and images
  Json::Array calls;

  bool is_empty() const { return parts.empty() && calls.empty() && reasoning.empty(); }
  /// The message of what has been read since the last one.
  void flush(Json::Array& out) {
    out.push_back(message_json(role, content_of(std::exchange(parts, {}))));
    if (!reasoning.empty()) out.back().set("reasoning_content", std::exchange(reasoning, ""));
    for (Json& call : std::exchange(calls, {})) add_call(out, std::move(call));
  }
};

Answer<Json> call_of(const Json& block, const std::string& where) {
  TOK_TRY(const std::string id, text_member(block, "id", kField, where));
  TOK_TRY(const std::string name, text_member(block, "name", kField, where));
  const Json* input = block.find("input");
  if (input == nullptr || input->is_null() || is_empty_object(*input)) {
    return call_json(id, name, Json(Json::Object{}));
  }
  if (!input->is_object()) {
    return wrong(kField, "{}.input is {}, expected an object.", where, kind_name(input->kind()));
  }
  return call_json(id, name, *input);
}

/// The result of a tool, also of one that the service ran, whose results are often no texts.
Answer<Json> result_of(const Json& block, const std::string& where) {
  TOK_TRY(const std::string id, text_member(block, "tool_use_id", kField, where));
  const Json* content = block.find("content");
  Json own = "";
  const bool is_own = type_of(block) == "tool_result" || type_of(block) == "mcp_tool_result";
  if (content != nullptr && is_own) {
    TOK_TRY(own, chat_content(*content, kField, where + ".content"));
  } else if (content != nullptr) {
    own = content->dump();
  }
  const Json* is_error = block.find("is_error");
  if (own == Json("") && is_error != nullptr && *is_error == Json(true)) own = "Error";
  Json message = message_json("tool", std::move(own));
  return message.set("tool_call_id", id);
}

Answer<void> add_block(const Json& block, const std::string& where, Turn& turn, Json::Array& out) {
  const std::string type = type_of(block);
  if (type == "tool_use" || type == "server_tool_use" || type == "mcp_tool_use") {
    TOK_TRY(Json call, call_of(block, where));
    turn.calls.push_back(std::move(call));
  } else if (type.ends_with("tool_result")) {
    // Within a turn of the model's own they belong after the calls that stand before them; in the
    // user's they come first, as templates want them.
    if (turn.role == "assistant" && !turn.is_empty()) turn.flush(out);
    TOK_TRY(Json result, result_of(block, where));
    out.push_back(std::move(result));
  } else if (type == "thinking" || type == "redacted_thinking") {
    if (const std::string* text = text_in(block, "thinking")) add_line(turn.reasoning, *text);
  } else if (type != "container_upload" && type != "compaction") {
    TOK_TRY(add_parts(block, kField, where, turn.parts));
  }
  return {};
}

Answer<void> add_message(const Json& message, const std::string& where, Json::Array& out) {
  TOK_TRY(const std::string role, text_member(message, "role", kField, where));
  if (role != "user" && role != "assistant" && role != "system") {
    return wrong(kField, "{}.role is {}, expected \"user\" or \"assistant\".", where, quoted(role));
  }
  const Json* content = message.find("content");
  if (content == nullptr) return wrong(kField, "{}.content is missing.", where);
  Turn turn{.role = role};
  const size_t before = out.size();
  if (content->is_string()) {
    turn.parts.push_back(text_part(content->as_string()));
  } else if (content->is_array()) {
    const Json::Array& blocks = content->as_array();
    for (size_t i = 0; i < blocks.size(); ++i) {
      TOK_TRY(add_block(blocks[i], fmt::format("{}.content[{}]", where, i), turn, out));
    }
  } else {
    return wrong(kField, "{}.content is {}, expected a text or a list of blocks.", where,
                 kind_name(content->kind()));
  }
  if (!turn.is_empty() || out.size() == before) turn.flush(out);
  return {};
}

/// `output_config` and, as the field was called before, `output_format`.
Answer<void> read_output(Fields& fields) {
  const Json* format = fields.output_config.find("format");
  if (format != nullptr && format->is_null()) format = nullptr;
  const Json& asked = format == nullptr ? fields.output_format : *format;
  if (asked.is_null() || is_empty_object(asked)) return {};
  const Json* schema = asked.find("schema");
  if (type_of(asked) != "json_schema" || schema == nullptr) {
    return wrong(format == nullptr ? "output_format" : "output_config",
                 "{} is {}, expected the type \"json_schema\", with a schema.",
                 format == nullptr ? "output_format" : "output_config.format", quoted(asked));
  }
  fields.response_format = Json(Json::Object{
      {"type", "json_schema"}, {"json_schema", Json(Json::Object{{"schema", *schema}})}});
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
    TOK_TRY(std::string text, text_content(fields.system, "system", "system"));
    if (!text.empty()) messages.push_back(message_json("system", std::move(text)));
  }
  const Json::Array& turns = fields.messages.as_array();
  if (turns.empty()) return wrong("messages", "messages is empty, expected at least one.");
  for (size_t i = 0; i < turns.size(); ++i) {
    TOK_TRY(add_message(turns[i], fmt::format("messages[{}]", i), messages));
  }
  fields.messages = std::move(messages);
  return read_output(fields);
}

}  // namespace tokamak::protocol
