// Grammars from JSON schemas, regular expressions and lists of texts.
#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "text/grammar/places.h"
#include "text/grammar/regular_expression.h"
#include "text/grammar/state_builder.h"
#include "text/schema/compiler.h"

namespace tokamak {
namespace {

constexpr uint32_t kMaxJsonObjectDepth = 32;

Result<Grammar> grammar_of(const grammar::Automaton& automaton, std::string source) {
  if (automaton.is_empty()) return invalid_input("No text is what is asked for.");
  grammar::StateBuilder states;
  const uint32_t end = states.end();
  const uint32_t root = states.automaton(automaton, false, end);
  if (states.is_full()) {
    return unsupported("The grammar takes more than {} states.", Grammar::kMaxStates);
  }
  Grammar made(states.take(), root, std::move(source));
  TOK_TRY(check_start(made));
  return made;
}

}  // namespace

Result<Grammar> Grammar::from_json_schema(std::string_view schema) {
  TOK_TRY(schema::Document document, schema::Document::parse(schema));
  TOK_TRY(Grammar made, schema::Compiler(document).compile(fmt::format("json_schema:{}", schema)));
  TOK_TRY(check_start(made));
  return made;
}

Result<Grammar> Grammar::from_regex(std::string_view expression) {
  if (expression.size() > kMaxTextBytes) {
    return invalid_input("The expression has {} bytes; at most {} are read.", expression.size(),
                         kMaxTextBytes);
  }
  TOK_TRY(const auto automaton, grammar::automaton_of(expression, grammar::Match::kWhole));
  return grammar_of(automaton, fmt::format("regex:{}", expression));
}

Result<Grammar> Grammar::from_choices(std::span<const std::string> texts) {
  std::string source = "choices:";
  std::vector<std::string_view> views;
  size_t bytes = 0;
  for (const std::string& text : texts) {
    if (text.empty()) return invalid_input("A choice is empty; an answer has at least one token.");
    if (!is_valid_utf8(text)) return invalid_input("A choice is not UTF-8.");
    bytes += text.size();
    source += fmt::format("{}:{}", text.size(), text);
    views.push_back(text);
  }
  if (views.empty()) return invalid_input("There is nothing to choose from.");
  if (bytes > kMaxTextBytes) {
    return invalid_input("The choices have {} bytes; at most {} are read.", bytes, kMaxTextBytes);
  }
  return grammar_of(grammar::Automaton::of(views).reduced(), std::move(source));
}

Grammar Grammar::json_object() {
  // A schema for every level, since models may open lists for ever.
  std::string schema = R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/v1"},
                           "$defs": {)";
  for (uint32_t depth = 1; depth < kMaxJsonObjectDepth; ++depth) {
    schema += fmt::format(
        R"("v{0}": {{"items": {{"$ref": "#/$defs/v{1}"}}, "additionalProperties": {{"$ref": "#/$defs/v{1}"}}}},)",
        depth, depth + 1);
  }
  schema += fmt::format(R"("v{}": {{"items": false, "additionalProperties": false}}}}}})",
                        kMaxJsonObjectDepth);
  auto made = from_json_schema(schema);
  TOK_CHECK(made.has_value());
  return *std::move(made);
}

}  // namespace tokamak
