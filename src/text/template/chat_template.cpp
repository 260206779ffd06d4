#include "text/template/chat_template.h"

#include <algorithm>

#include "text/template/interpreter.h"
#include "text/template/parser.h"
#include "text/template/unicode.h"

namespace tokamak {
namespace {

// Put after the last message to find where it ends in the rendered text; plain letters, so that no
// template escapes it. The space after it tells whether the template trims messages.
constexpr std::string_view kEndMark = "TOKAMAK_END_OF_FINAL_MESSAGE";

jinja::Limits limits_of(const RenderOptions& options) {
  jinja::Limits limits;
  if (options.max_steps > 0) limits.max_steps = options.max_steps;
  if (options.max_depth > 0) limits.max_depth = options.max_depth;
  if (options.max_memory_bytes > 0) limits.max_memory_bytes = options.max_memory_bytes;
  if (options.max_output_bytes > 0) limits.max_output_bytes = options.max_output_bytes;
  return limits;
}

/// The text of the last message: its content, or the last text among the parts of its content.
Result<Json*> final_text(Json& variables) {
  Json* messages = variables.find("messages");
  if (messages == nullptr || !messages->is_array() || messages->as_array().empty()) {
    return invalid_input("continue_final_message needs at least one message.");
  }
  Json* content = messages->as_array().back().find("content");
  if (content != nullptr && content->is_array()) {
    Json::Array& parts = content->as_array();
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      Json* text = part->find("text");
      if (text != nullptr && text->is_string()) return text;
    }
  }
  if (content == nullptr || !content->is_string()) {
    return invalid_input("continue_final_message needs a text in the final message.");
  }
  return content;
}

/// `rendered` up to the mark; where the template trims messages, without the spaces before it.
Result<std::string> cut_at_mark(std::string rendered) {
  const size_t at = rendered.rfind(kEndMark);
  if (at == rendered.npos) {
    return invalid_input(
        "continue_final_message is set, but the final message does not appear in the text the "
        "template makes.");
  }
  const size_t end = at + kEndMark.size();
  const bool trims = end == rendered.size() || rendered[end] != ' ';
  rendered.resize(at);
  if (trims) rendered.resize(jinja::strip_spaces(rendered, jinja::Side::kRight).size());
  return rendered;
}

bool is_true(const Json* value) {
  return value != nullptr && value->is_bool() && value->as_bool();
}

Result<void> add_variable(jinja::Runtime& runtime, jinja::Scope& scope, std::string_view name,
                          const Json& json) {
  auto value = runtime.from_json(json);
  if (!value) {
    return std::unexpected(value.error().within(fmt::format("variable \"{}\"", name)));
  }
  const auto found =
      std::ranges::find(scope.names, name, [](const auto& one) { return one.first; });
  if (found != scope.names.end()) {
    found->second = *value;
  } else {
    scope.names.emplace_back(name, *value);
  }
  return {};
}

Result<std::string> render_plain(const jinja::Template& parsed, const Json& variables,
                                 const RenderOptions& options) {
  jinja::Runtime runtime(limits_of(options));
  runtime.now = options.unix_seconds;
  jinja::Scope scope;
  TOK_TRY(add_variable(runtime, scope, "messages", Json(Json::Array{})));
  TOK_TRY(add_variable(runtime, scope, "tools", Json()));
  TOK_TRY(add_variable(runtime, scope, "documents", Json()));
  TOK_TRY(add_variable(runtime, scope, "add_generation_prompt", Json(false)));
  for (const auto& [name, value] : variables.as_object()) {
    if (name == "continue_final_message") continue;
    TOK_TRY(add_variable(runtime, scope, name, value));
  }
  jinja::Interpreter interpreter(runtime);
  auto rendered = interpreter.run(parsed, scope);
  if (!rendered) {
    return std::unexpected(
        rendered.error().within(fmt::format("{}: line {}", parsed.name, interpreter.line())));
  }
  return rendered;
}

}  // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, std::string_view name) {
  TOK_TRY(auto parsed, jinja::parse_template(source, name));
  return ChatTemplate(std::move(parsed));
}

Result<std::string> ChatTemplate::render(const Json& variables,
                                         const RenderOptions& options) const {
  if (!variables.is_object()) {
    return invalid_input("{}: The variables are {} where an object is expected.", parsed_->name,
                         kind_name(variables.kind()));
  }
  if (!is_true(variables.find("continue_final_message"))) {
    return render_plain(*parsed_, variables, options);
  }
  if (is_true(variables.find("add_generation_prompt"))) {
    return invalid_input(
        "continue_final_message and add_generation_prompt exclude each other, but both are set.");
  }
  Json marked = variables;
  TOK_TRY(Json * text, final_text(marked));
  *text = Json(text->as_string() + std::string(kEndMark) + " ");
  TOK_TRY(std::string rendered, render_plain(*parsed_, marked, options));
  return cut_at_mark(std::move(rendered));
}

}  // namespace tokamak
