#include "protocol/service/text_body_reader.h"

#include "protocol/anthropic/reader.h"
#include "protocol/chat/messages.h"
#include "protocol/chat/thinking.h"
#include "protocol/chat/tools_reader.h"
#include "protocol/ollama/reader.h"
#include "protocol/openai/responses_reader.h"

namespace tokamak::protocol {
namespace {

/// Reads -1, which programs for llama.cpp and Ollama send, as all that the context leaves.
Answer<void> read_limits(Fields& fields, Endpoint endpoint) {
  const std::string_view main_name = endpoint == kResponses ? "max_output_tokens" : "max_tokens";
  for (const auto& [member, name] :
       {std::pair(&Fields::max_tokens, main_name),
        std::pair(&Fields::max_completion_tokens, std::string_view("max_completion_tokens"))}) {
    std::optional<int64_t>& limit = fields.*member;
    if (limit == -1) limit = kUnlimited;
    if (limit == 0 && endpoint != kCompletions) {
      return wrong(name, "{} is 0, expected a whole number from 1 on, or -1.", name);
    }
  }
  return {};
}

/// Reads the one field in which vLLM has all that an answer may be held to.
Answer<void> read_structures(Fields& fields) {
  if (fields.structured_outputs.is_null()) return {};
  for (const auto& [name, value] : fields.structured_outputs.as_object()) {
    const bool is_text = value.is_string();
    if (value.is_null() || value == Json(false)) continue;
    if (name == "json" && !is_text) {
      fields.json_schema = value;
    } else if (name == "regex" && is_text) {
      fields.regex = value.as_string();
    } else if (name == "grammar" && is_text) {
      fields.grammar = value.as_string();
    } else if (name == "choice" && value.is_array()) {
      fields.choices = value;
    } else if (name == "json_object") {
      fields.response_format = Json(Json::Object{{"type", "json_object"}});
    } else {
      return wrong("structured_outputs", "structured_outputs.{} is {}, expected {}.", name,
                   quoted(value), "one of json, regex, grammar, choice and json_object");
    }
  }
  return {};
}

/// Refuses answers that are no texts.
Answer<void> check_modalities(const Fields& fields) {
  if (fields.modalities.is_null()) return {};
  for (const Json& one : fields.modalities.as_array()) {
    if (one == Json("text")) continue;
    return wrong("modalities", "modalities has {}, but this server answers with text only.",
                 quoted(one));
  }
  return {};
}

/// Reads whether the last message is one of the assistant's that the answer continues: in
/// `continue_final_message`. Anthropic's and Ollama's protocols mean it so.
Answer<void> read_continuation(Fields& fields, Endpoint endpoint) {
  const Json& last = fields.messages.as_array().back();
  const Json* content = last.find("content");
  const bool is_open = *last.find("role") == Json("assistant") && content->is_string() &&
                       !content->as_string().empty() && last.find("tool_calls") == nullptr;
  if (fields.continue_final_message.value_or(false) && !is_open) {
    return wrong("continue_final_message",
                 "continue_final_message is true, but the last message is not an assistant's with "
                 "a text.");
  }
  const bool always = endpoint == kMessages || endpoint == kCountTokens || endpoint == kOllamaChat;
  if (always) fields.continue_final_message = is_open;
  return {};
}

}  // namespace

Answer<TextBody> read_text_body(std::string_view body, Endpoint endpoint, const FindItem& kept) {
  TextBody out;
  TOK_TRY(out.fields, read_fields(body, endpoint));
  out.is_chat = endpoint != kCompletions;
  TOK_TRY(read_limits(out.fields, endpoint));
  TOK_TRY(check_modalities(out.fields));
  switch (endpoint) {
    case kResponses:
      TOK_TRY(read_responses(out.fields, kept));
      break;
    case kMessages:
    case kCountTokens:
      TOK_TRY(read_anthropic(out.fields, endpoint == kMessages));
      break;
    case kOllamaChat:
    case kOllamaGenerate:
      TOK_TRY(read_ollama(out, endpoint));
      break;
    default:
      break;
  }
  TOK_TRY(read_structures(out.fields));
  if (!out.is_chat || out.only_loads) return out;
  TOK_TRY(read_chat(out.fields));
  TOK_TRY(read_tools(out.fields, endpoint));
  TOK_TRY(read_continuation(out.fields, endpoint));
  TOK_TRY(read_thinking(out.fields));
  return out;
}

}  // namespace tokamak::protocol
