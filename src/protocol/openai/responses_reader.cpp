// The body of OpenAI's Responses: items in place of messages, functions without a wrapping.
#include "protocol/openai/responses_reader.h"

#include <algorithm>

#include "protocol/chat/chat_parts.h"
#include "protocol/chat/content_parts.h"
#include "protocol/chat/tools_reader.h"
#include "protocol/openai/opaque_reasoning.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kField = "input";
// Steps that another service has taken by itself and shows here: what came of them stands in
// the messages that follow. Summaries that only it can read are among them.
constexpr std::string_view kPassedOver[] = {
    "web_search_call",    "file_search_call",   "code_interpreter_call", "image_generation_call",
    "mcp_list_tools",     "mcp_call",           "mcp_approval_request",  "mcp_approval_response",
    "tool_search_call",   "compaction",         "compaction_summary",    "compaction_trigger",
    "tool_search_output", "context_compaction", "ghost_snapshot",        "other"};

constexpr std::string_view kCalls[] = {"function_call", "custom_tool_call", "local_shell_call"};
constexpr std::string_view kOutputs[] = {"function_call_output", "custom_tool_call_output",
                                         "local_shell_call_output"};

class ItemsReader {
 public:
  explicit ItemsReader(const FindItem& kept) : kept_(kept) {}
  Answer<void> add(const Json& item, const std::string& where);
  Json::Array finish() {
    if (!reasoning_.empty()) assistant();
    return std::move(messages_);
  }

 private:
  Answer<void> add_message(const Json& item, const std::string& where);
  Answer<void> add_call(const Json& item, const std::string& where);
  Answer<void> add_output(const Json& item, const std::string& where);
  Answer<void> add_reasoning(const Json& item, const std::string& where);
  Answer<void> add_kept(const Json& item, const std::string& where);

  /// The assistant's message that has what it thought, if it has, and gets more.
  Json& assistant() {
    Json& message = messages_.emplace_back(message_json("assistant", ""));
    if (!reasoning_.empty()) message.set("reasoning_content", std::exchange(reasoning_, ""));
    return message;
  }

  const FindItem& kept_;
  Json::Array messages_;
  std::string reasoning_;  // of the item before, for the message that follows
};

Answer<void> ItemsReader::add_message(const Json& item, const std::string& where) {
  TOK_TRY(const std::string role, text_member(item, "role", kField, where));
  const Json* content = item.find("content");
  if (content == nullptr) return wrong(kField, "{}.content is missing.", where);
  TOK_TRY(Json own, chat_content(*content, kField, where + ".content",
                                 role == "assistant" ? &reasoning_ : nullptr));
  if (role == "assistant") {
    *assistant().find("content") = std::move(own);
  } else {
    if (!reasoning_.empty()) assistant();
    messages_.push_back(message_json(role, std::move(own)));
  }
  return {};
}

/// The arguments, or of a custom tool its one text.
Answer<void> ItemsReader::add_call(const Json& item, const std::string& where) {
  TOK_TRY(const std::string id, text_member(item, "call_id", kField, where));
  std::string name;
  Json arguments;
  if (type_of(item) == "local_shell_call") {
    name = "local_shell";
    if (const Json* action = item.find("action")) arguments = *action;
  } else if (type_of(item) == "custom_tool_call") {
    TOK_TRY(name, text_member(item, "name", kField, where));
    TOK_TRY(std::string input, text_member(item, "input", kField, where));
    arguments = Json(Json::Object{{"input", std::move(input)}});
  } else {
    TOK_TRY(name, text_member(item, "name", kField, where));
    if (const Json* given = item.find("arguments")) arguments = *given;
  }
  const std::string* outer = text_in(item, "namespace");
  if (outer != nullptr && !outer->empty()) name = name_in_namespace(*outer, name);
  if (!reasoning_.empty()) assistant();
  protocol::add_call(messages_, call_json(id, name, std::move(arguments)));
  return {};
}

Answer<void> ItemsReader::add_output(const Json& item, const std::string& where) {
  TOK_TRY(const std::string id, text_member(item, "call_id", kField, where));
  const Json* output = item.find("output");
  if (output == nullptr) return wrong(kField, "{}.output is missing.", where);
  Json content;
  if (output->is_object()) {  // as tools of the client's own have it
    content = output->dump();
  } else {
    TOK_TRY(content, chat_content(*output, kField, where + ".output"));
  }
  if (!reasoning_.empty()) assistant();
  messages_.push_back(message_json("tool", std::move(content)));
  messages_.back().set("tool_call_id", id);
  return {};
}

/// The thoughts themselves where they are there, else their summary.
Answer<void> ItemsReader::add_reasoning(const Json& item, const std::string& where) {
  const std::string* opaque = text_in(item, "encrypted_content");
  if (const auto text = reasoning_of_opaque(opaque == nullptr ? "" : *opaque)) {
    add_line(reasoning_, *text);
    return {};
  }
  for (const char* name : {"content", "summary"}) {
    const Json* parts = item.find(name);
    if (parts == nullptr) continue;
    TOK_TRY(const std::string text,
            text_content(*parts, kField, fmt::format("{}.{}", where, name)));
    if (text.empty()) continue;
    add_line(reasoning_, text);
    break;
  }
  return {};
}

/// The item of an earlier answer to which this one refers.
Answer<void> ItemsReader::add_kept(const Json& item, const std::string& where) {
  TOK_TRY(const std::string id, text_member(item, "id", kField, where));
  const std::optional<Json> found = kept_ ? kept_(id) : std::nullopt;
  if (found) return add(*found, where);
  return wrong(kField,
               "{} is {}, but no such item is kept here, or no more: send the item itself, as "
               "clients do where store is false.",
               where, quoted(item));
}

Answer<void> ItemsReader::add(const Json& item, const std::string& where) {
  std::string type = type_of(item);
  if (type.empty()) type = item.find("role") != nullptr ? "message" : "item_reference";
  if (type == "message") return add_message(item, where);
  if (type == "reasoning") return add_reasoning(item, where);
  if (std::ranges::find(kCalls, type) != std::end(kCalls)) return add_call(item, where);
  if (std::ranges::find(kOutputs, type) != std::end(kOutputs)) return add_output(item, where);
  if (std::ranges::find(kPassedOver, type) != std::end(kPassedOver)) return {};
  if (type == "item_reference" && item.find("id") != nullptr) return add_kept(item, where);
  return wrong(kField, "{} is {}, expected the type \"message\", \"function_call\", {}.", where,
               quoted(item), "\"function_call_output\" or \"reasoning\"");
}

}  // namespace

bool has_opaque_reasoning(const Fields& fields) {
  if (!fields.include.is_array()) return false;
  const Json::Array& all = fields.include.as_array();
  return std::ranges::find(all, Json("reasoning.encrypted_content")) != all.end();
}

Answer<void> read_responses(Fields& fields, const FindItem& kept) {
  if (!fields.previous_response_id.value_or("").empty()) {
    return wrong("previous_response_id",
                 "previous_response_id is {}, but no conversations are stored here: send the "
                 "whole of it as input.",
                 quoted(*fields.previous_response_id));
  }
  if (fields.input.is_null()) return wrong("input", "input is missing.");
  ItemsReader reader(kept);
  if (fields.instructions) {
    TOK_TRY(reader.add(message_json("system", *fields.instructions), "instructions"));
  }
  if (fields.input.is_string()) {
    TOK_TRY(reader.add(message_json("user", fields.input), "input"));
  } else {
    const Json::Array& items = fields.input.as_array();
    for (size_t i = 0; i < items.size(); ++i) {
      TOK_TRY(reader.add(items[i], fmt::format("input[{}]", i)));
    }
  }
  fields.messages = reader.finish();
  if (const Json* format = fields.text.find("format")) fields.response_format = *format;
  return {};
}

}  // namespace tokamak::protocol
