#include "openai/answer_grammar.h"

#include <algorithm>

#include "openai/json_rules.h"
#include "openai/messages.h"

namespace tokamak::openai {
namespace {

/// A byte of a GBNF text.
std::string literal(char c) {
  return fmt::format("\\x{:02X}", uint32_t{uint8_t(c)});
}

/// The body of a rule for any text up to `mark` and the mark itself, where the mark's first byte
/// comes in it once only, as in "</think>".
std::string text_up_to(std::string_view mark) {
  std::string others;  // what a text may have where it goes another way than the mark
  std::string start;
  for (size_t i = 0; i < mark.size(); ++i) {
    others += fmt::format("{}{}[^{}{}]", others.empty() ? "" : " | ",
                          start.empty() ? "" : "\"" + start + "\" ", literal(mark[i]),
                          i == 0 ? "" : literal(mark[0]));
    start += literal(mark[i]);
  }
  return fmt::format("({})* \"{}\" (\"\\n\" | \"\\n\\n\")?", others, start);
}

/// GBNF of response_format; empty where the answer is any text.
Answer<std::string> format_grammar(const Fields& fields, const OutputForm& form) {
  const Json& format = fields.response_format;
  const Json* type = format.find("type");
  const std::string word = type != nullptr && type->is_string() ? type->as_string() : "";
  if (word == "text") return "";
  if (word != "json_object") {
    return wrong("response_format", "response_format is {}, expected the type \"text\" or {}.",
                 quoted(format), "\"json_object\"");
  }
  if (!form.starts_in_reasoning) return "root ::= object\n" + std::string(kJsonRules);
  return "root ::= before object\nbefore ::= " + text_up_to(form.reasoning_close) + "\n" +
         std::string(kJsonRules);
}

/// The schema that response_format has, in any of its places.
const Json* schema_of(const Json& format) {
  if (const Json* named = format.find("json_schema")) {
    const Json* schema = named->find("schema");
    return schema == nullptr ? named : schema;
  }
  return format.find("schema");
}

Answer<std::string> forced_calls(const Fields& fields, const ToolChoice& choice,
                                 const OutputForm& form) {
  const std::string quoted_choice = quoted(fields.tool_choice);
  if (form.tools == nullptr || form.tools->call_rule.empty()) {
    return wrong("tool_choice",
                 "tool_choice is {}, but this model's calls are not written as JSON, and only to "
                 "those it can be held: say \"auto\".",
                 quoted_choice);
  }
  const std::string before =
      form.starts_in_reasoning ? text_up_to(form.reasoning_close) : std::string();
  const bool is_one = fields.tool_choice.is_object() || !fields.parallel_tool_calls.value_or(true);
  return call_grammar(*form.tools, choice.names, is_one, before);
}

}  // namespace

Answer<Grammar> schema_grammar(const Json&, std::string_view field) {
  return wrong(field,
               "{} has a JSON Schema, which this server does not support yet: use \"json_object\" "
               "or grammar.",
               field);
}

Answer<std::shared_ptr<const Grammar>> answer_grammar(const Fields& fields,
                                                      const OutputForm& form) {
  TOK_TRY(const ToolChoice choice, tool_choice_of(fields));
  const Json* type = fields.response_format.find("type");
  const bool has_schema = (type != nullptr && *type == Json("json_schema")) ||
                          schema_of(fields.response_format) != nullptr;
  std::string gbnf = fields.grammar.value_or("");
  std::string_view field = "grammar";
  size_t forms = !gbnf.empty();
  if (!fields.response_format.is_null()) {
    if (has_schema) {
      const Json* schema = schema_of(fields.response_format);
      TOK_TRY(Grammar held,
              schema_grammar(schema == nullptr ? Json() : *schema, "response_format"));
      if (forms == 0) return std::make_shared<const Grammar>(std::move(held));
    }
    TOK_TRY(std::string own, format_grammar(fields, form));
    forms += !own.empty();
    if (!own.empty()) std::tie(gbnf, field) = std::pair(std::move(own), "response_format");
  }
  if (!choice.names.empty()) {
    TOK_TRY(gbnf, forced_calls(fields, choice, form));
    field = "tool_choice";
    ++forms;
  }
  if (forms > 1) {
    return wrong("grammar",
                 "grammar, response_format and tool_choice hold the answer to more than one form: "
                 "leave one.");
  }
  if (gbnf.empty()) return nullptr;
  TOK_TRY(Grammar parsed, answer(Grammar::parse(gbnf), field));
  return std::make_shared<const Grammar>(std::move(parsed));
}

}  // namespace tokamak::openai
