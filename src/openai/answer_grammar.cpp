#include "openai/answer_grammar.h"

#include <algorithm>

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

Answer<Grammar> schema_grammar(const Json& schema, std::string_view field) {
  return answer(Grammar::from_json_schema(schema.dump()), field);
}

/// The schema that response_format has, in any of its places.
const Json* schema_of(const Json& format) {
  if (const Json* named = format.find("json_schema")) {
    const Json* schema = named->find("schema");
    return schema == nullptr ? named : schema;
  }
  return format.find("schema");
}

/// What response_format asks for; nothing where the answer is any text.
Answer<std::optional<Grammar>> format_grammar(const Json& format) {
  constexpr std::string_view kField = "response_format";
  const Json* type = format.find("type");
  const std::string word = type != nullptr && type->is_string() ? type->as_string() : "";
  const Json* schema = schema_of(format);
  if (word == "text") return std::nullopt;
  if (word == "json_schema" && schema == nullptr) {
    return wrong(kField,
                 "response_format has the type \"json_schema\", but no json_schema.schema.");
  }
  if (word != "json_object" && word != "json_schema") {
    return wrong(kField, "response_format is {}, expected the type \"text\", {}.", quoted(format),
                 "\"json_object\" or \"json_schema\"");
  }
  if (schema == nullptr) return Grammar::json_object();
  return schema_grammar(*schema, kField);
}

/// What the arguments of tool `place` may be.
Answer<Grammar> arguments_grammar(const Json& function, size_t place) {
  const Json* parameters = function.find("parameters");
  if (parameters == nullptr || parameters->is_null()) return Grammar::json_object();
  return schema_grammar(*parameters, fmt::format("tools[{}].function.parameters", place));
}

Answer<Grammar> forced_calls(const Fields& fields, const ToolChoice& choice,
                             const OutputForm& form) {
  if (form.tools == nullptr || form.tools->call_rule.empty()) {
    return wrong("tool_choice",
                 "tool_choice is {}, but this model's calls are not written as JSON, and only to "
                 "those it can be held: say \"auto\".",
                 quoted(fields.tool_choice));
  }
  std::vector<Grammar> arguments;
  std::vector<std::string> names, rules;
  for (const size_t place : choice.called) {
    const Json& function = *fields.tools.as_array()[place].find("function");
    names.push_back(function.find("name")->as_string());
    TOK_TRY(Grammar own, arguments_grammar(function, place));
    arguments.push_back(std::move(own));
  }
  for (size_t i = 0; i < arguments.size(); ++i) rules.push_back(fmt::format("arguments-{}", i));
  std::vector<Grammar::Named> others;
  for (size_t i = 0; i < arguments.size(); ++i) others.push_back({rules[i], &arguments[i]});
  const bool is_one = fields.tool_choice.is_object() || !fields.parallel_tool_calls.value_or(true);
  return answer(Grammar::parse(call_grammar(*form.tools, names, is_one), others), "tool_choice");
}

/// The grammar after any text that ends with `mark`.
Answer<Grammar> after(std::string_view mark, const Grammar& grammar) {
  const std::string gbnf = "root ::= before answer\nbefore ::= " + text_up_to(mark);
  const Grammar::Named others[] = {{"answer", &grammar}};
  return answer(Grammar::parse(gbnf, others));
}

/// All that the grammar of an answer depends on.
std::string key_of(const Fields& fields, const ToolChoice& choice, const OutputForm& form,
                   std::string_view tenant) {
  Json::Array key = {tenant, fields.grammar.value_or(""), fields.regex.value_or(""),
                     fields.json_schema, fields.response_format};
  if (form.starts_in_reasoning) key.emplace_back(form.reasoning_close);
  if (!choice.called.empty()) {
    key.emplace_back(fields.parallel_tool_calls.value_or(true));
    key.push_back(fields.tool_choice);
    key.push_back(fields.tools);
  }
  return Json(std::move(key)).dump();
}

Answer<std::shared_ptr<const Grammar>> make_grammar(const Fields& fields, const ToolChoice& choice,
                                                    const OutputForm& form) {
  std::vector<Grammar> forms;
  const auto add = [&](Answer<Grammar> made) -> Answer<void> {
    TOK_TRY(Grammar grammar, std::move(made));
    forms.push_back(std::move(grammar));
    return {};
  };
  if (const std::string gbnf = fields.grammar.value_or(""); !gbnf.empty()) {
    TOK_TRY(add(answer(Grammar::parse(gbnf), "grammar")));
  }
  if (const std::string regex = fields.regex.value_or(""); !regex.empty()) {
    TOK_TRY(add(answer(Grammar::from_regex(regex), "regex")));
  }
  if (!fields.json_schema.is_null()) {
    TOK_TRY(add(schema_grammar(fields.json_schema, "json_schema")));
  }
  if (!fields.response_format.is_null()) {
    TOK_TRY(auto format, format_grammar(fields.response_format));
    if (format) forms.push_back(*std::move(format));
  }
  if (!choice.called.empty()) TOK_TRY(add(forced_calls(fields, choice, form)));
  if (forms.size() > 1) {
    return wrong("grammar",
                 "grammar, regex, json_schema, response_format and tool_choice hold the answer to "
                 "more than one form: leave one.");
  }
  if (forms.empty()) return nullptr;
  if (form.starts_in_reasoning) {
    TOK_TRY(forms[0], after(form.reasoning_close, forms[0]));
  }
  return std::make_shared<const Grammar>(std::move(forms[0]));
}

}  // namespace

Answer<std::shared_ptr<const Grammar>> AnswerGrammars::of(const Fields& fields,
                                                          const OutputForm& form,
                                                          std::string_view tenant) {
  TOK_TRY(const ToolChoice choice, tool_choice_of(fields));
  std::string key = key_of(fields, choice, form, tenant);
  const auto known = std::ranges::find(kept_, key, &Kept::key);
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().grammar;
  }
  TOK_TRY(auto grammar, make_grammar(fields, choice, form));
  if (grammar == nullptr || key.size() > kMaxKeyBytes) return grammar;
  kept_.push_front({std::move(key), grammar});
  if (kept_.size() > kMaxKept) kept_.pop_back();
  return grammar;
}

}  // namespace tokamak::openai
