#include "protocol/grammars/answer_grammar.h"

#include <algorithm>

#include "protocol/chat/messages.h"
#include "protocol/chat/schemas.h"
#include "protocol/grammars/call_grammar.h"
#include "protocol/grammars/channel_grammar.h"
#include "protocol/grammars/open_texts.h"

namespace tokamak::protocol {
namespace {

/// The grammar of one of the texts in `choices`.
Answer<Grammar> choice_grammar(const Json& choices) {
  std::vector<std::string> texts;
  for (const Json& choice : choices.as_array()) {
    if (!choice.is_string()) {
      return wrong("guided_choice", "guided_choice has {}, expected texts.", quoted(choice));
    }
    texts.push_back(choice.as_string());
  }
  return answer(Grammar::from_choices(texts), "guided_choice");
}

Answer<Grammar> schema_grammar(const Json& schema, std::string_view field) {
  return answer(Grammar::from_json_schema(filled_schema(schema).dump()), field);
}

/// The schema that response_format has, in any of its places.
const Json* schema_of(const Json& format) {
  if (const Json* named = format.find("json_schema")) {
    const Json* schema = named->find("schema");
    return schema == nullptr ? named : schema;
  }
  return format.find("schema");
}

/// The grammar for response_format; nothing where the answer is any text.
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

bool is_strict(const Json& function, bool value) {
  const Json* strict = function.find("strict");
  return strict != nullptr && *strict == Json(value);
}

/// The grammar of a function's arguments.
Result<Grammar> arguments_grammar(const Json& function) {
  const Json* parameters = function.find("parameters");
  if (parameters == nullptr || parameters->is_null()) return Grammar::json_object();
  return Grammar::from_json_schema(parameters->dump());
}

std::string place_of_tool(size_t place) {
  return fmt::format("tools[{}].function.parameters", place);
}

const Json& function_of(const Fields& fields, size_t place) {
  return *fields.tools.as_array()[place].find("function");
}

Answer<Grammar> forced_calls(const Fields& fields, const ToolChoice& choice,
                             const OutputFormat& form) {
  if (form.tools == nullptr || !form.tools->can_be_held()) {
    return wrong("tool_choice",
                 "tool_choice is {}, but this model's calls are not written as JSON, and only to "
                 "those it can be held: say \"auto\".",
                 quoted(fields.tool_choice));
  }
  std::vector<ConstrainedFunction> functions;
  for (const size_t place : choice.called) {
    const Json& function = function_of(fields, place);
    TOK_TRY(Grammar own, answer(arguments_grammar(function), place_of_tool(place)));
    functions.push_back({function.find("name")->as_string(), std::move(own)});
  }
  const bool is_one = fields.tool_choice.is_object() || !fields.parallel_tool_calls.value_or(true);
  return demanded_calls(form, functions, is_one);
}

/// Whether calls that the model makes by itself are held to their schemas. A mark that may begin a
/// call in place of a whole message is not in the grammar: as a special token it could never come.
bool holds_free_calls(const Fields& fields, const ToolChoice& choice, const OutputFormat& form) {
  if (!choice.shows || !choice.called.empty() || form.tools == nullptr) return false;
  const auto& special = form.special_marks;
  const bool has_lost_mark =
      form.tools->is_whole_message && std::ranges::find(special, form.tools->open) != special.end();
  if (!form.tools->can_be_held() || has_lost_mark) return false;
  return !std::ranges::all_of(fields.tools.as_array(), [](const Json& tool) {
    return is_strict(*tool.find("function"), false);
  });
}

/// The functions that the model may call. A schema that cannot be held is an error of tools that
/// insist on it, one that is wrong of all; others take any object.
Answer<std::vector<ConstrainedFunction>> free_functions(const Fields& fields) {
  std::vector<ConstrainedFunction> functions;
  for (size_t i = 0; i < fields.tools.as_array().size(); ++i) {
    const Json& function = function_of(fields, i);
    Result<Grammar> own = is_strict(function, false) ? Result<Grammar>(Grammar::json_object())
                                                     : arguments_grammar(function);
    if (!own && (is_strict(function, true) || own.error().code != ErrorCode::kUnsupported)) {
      return Refusal(api_error(own.error(), place_of_tool(i)));
    }
    functions.push_back(
        {function.find("name")->as_string(), own ? *std::move(own) : Grammar::json_object()});
  }
  return functions;
}

Answer<Grammar> free_calls(const Fields& fields, const OutputFormat& form) {
  TOK_TRY(const std::vector<ConstrainedFunction> functions, free_functions(fields));
  return calls_in_text(form, functions);
}

/// Whether an answer that has a schema may be calls in its place: clients that send tools and a
/// schema want the schema of the answer that comes when all calls are done.
bool may_call_instead(const Fields& fields, const ToolChoice& choice, const OutputFormat& form) {
  if (!choice.shows || !choice.called.empty() || form.tools == nullptr) return false;
  if (!form.tools->can_be_held() || form.tools->is_whole_message) return false;
  return !fields.json_schema.is_null() || !fields.response_format.is_null();
}

/// That text, or calls and nothing else.
Answer<Grammar> or_calls(const Grammar& text, const Fields& fields, const OutputFormat& form) {
  TOK_TRY(const std::vector<ConstrainedFunction> functions, free_functions(fields));
  const bool is_one = !fields.parallel_tool_calls.value_or(true);
  TOK_TRY(const Grammar calls, demanded_calls(form, functions, is_one));
  const Grammar::Named others[] = {{"text", &text}, {"calls", &calls}};
  return answer(Grammar::parse("root ::= text | calls", others));
}

/// The grammar after any text that ends with `mark`.
Answer<Grammar> after(std::string_view mark, const Grammar& grammar) {
  const Grammar before = text_up_to(mark);
  const Grammar::Named others[] = {{"before", &before}, {"answer", &grammar}};
  return answer(Grammar::parse(R"(root ::= before "\n"? "\n"? answer)", others));
}

/// All that the grammar of an answer depends on.
std::string key_of(const Fields& fields, const ToolChoice& choice, const OutputFormat& form,
                   std::string_view tenant) {
  Json::Array key = {
      tenant,         fields.grammar.value_or(""), fields.regex.value_or(""), fields.json_schema,
      fields.choices, fields.response_format};
  if (form.starts_in_reasoning) key.emplace_back(form.reasoning_close);
  if (form.has_channels) key.emplace_back(form.opened);
  if (choice.shows) {
    key.emplace_back(form.reasoning_open);
    key.emplace_back(fields.parallel_tool_calls.value_or(true));
    key.push_back(fields.tool_choice);
    key.push_back(fields.tools);
  }
  return Json(std::move(key)).dump();
}

Answer<ConstrainedAnswer> make_grammar(const Fields& fields, const ToolChoice& choice,
                                       const OutputFormat& form) {
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
  if (!fields.choices.is_null()) TOK_TRY(add(choice_grammar(fields.choices)));
  if (!fields.response_format.is_null()) {
    TOK_TRY(auto format, format_grammar(fields.response_format));
    if (format) forms.push_back(*std::move(format));
  }
  const size_t texts = forms.size();
  if (!choice.called.empty()) TOK_TRY(add(forced_calls(fields, choice, form)));
  const bool has_demanded = forms.size() > texts;
  if (forms.size() > 1) {
    return wrong("grammar",
                 "grammar, regex, json_schema, response_format and tool_choice hold the answer to "
                 "more than one form: leave one.");
  }
  const bool has_free = forms.empty() && holds_free_calls(fields, choice, form);
  if (has_free) TOK_TRY(add(free_calls(fields, form)));
  if (forms.empty()) return ConstrainedAnswer{};
  if (texts > 0 && form.has_channels) {
    TOK_TRY(forms[0], final_message(form, forms[0]));
  } else if (texts > 0 && form.starts_in_reasoning) {
    TOK_TRY(forms[0], after(mark_in_grammar(form, form.reasoning_close), forms[0]));
  }
  const bool has_instead = texts > 0 && may_call_instead(fields, choice, form);
  if (has_instead) {
    TOK_TRY(forms[0], or_calls(forms[0], fields, form));
  }
  return ConstrainedAnswer{.grammar = std::make_shared<const Grammar>(std::move(forms[0])),
                           .holds_calls = has_demanded || has_free || has_instead,
                           .demands_calls = has_demanded};
}

}  // namespace

Answer<ConstrainedAnswer> AnswerGrammars::of(const Fields& fields, const OutputFormat& form,
                                             std::string_view tenant) {
  TOK_TRY(const ToolChoice choice, tool_choice_of(fields));
  std::string key = key_of(fields, choice, form, tenant);
  const auto known = std::ranges::find(kept_, key, &Kept::key);
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().held;
  }
  TOK_TRY(const ConstrainedAnswer held, make_grammar(fields, choice, form));
  if (held.grammar == nullptr || key.size() > kMaxKeyBytes) return held;
  kept_.push_front({std::move(key), held});
  if (kept_.size() > kMaxKept) kept_.pop_back();
  return held;
}

}  // namespace tokamak::protocol
