#include "openai/call_grammar.h"

#include "openai/open_texts.h"

namespace tokamak::openai {
namespace {

/// A text in GBNF.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("\\x{:02X}", uint32_t{uint8_t(c)});
  return "\"" + out + "\"";
}

/// Rules in GBNF, and those of other grammars that they call.
class Rules {
 public:
  void add(std::string_view name, std::string_view body) {
    gbnf_ += fmt::format("{} ::= {}\n", name, body);
  }
  void add(std::string name, Grammar grammar) {
    grammars_.emplace_back(std::move(name), std::move(grammar));
  }
  Answer<Grammar> grammar() const {
    std::vector<Grammar::Named> others;
    for (const auto& [name, grammar] : grammars_) others.push_back({name, &grammar});
    return answer(Grammar::parse(gbnf_, others), "tools");
  }

 private:
  std::string gbnf_;
  std::vector<std::pair<std::string, Grammar>> grammars_;
};

/// The rule `call`: all of a call but the mark that opens it.
void add_call(const ToolFamily& family, const std::vector<HeldFunction>& functions, Rules& rules) {
  const std::string_view line = family.close.empty() ? "" : "\n";
  std::string any;
  for (size_t i = 0; i < functions.size(); ++i) {
    any += fmt::format("{}call-{}", i == 0 ? "" : " | ", i);
    rules.add(fmt::format("call-{}", i),
              fmt::format("{} arguments-{} {}",
                          literal(fmt::format("{}{}{}{}", line, kCallStart, functions[i].name,
                                              call_middle(family))),
                          i, literal(fmt::format("}}{}{}", line, family.close))));
    rules.add(fmt::format("arguments-{}", i), functions[i].arguments);
  }
  rules.add("call", any);
}

/// The rule `lead`: reasoning in front of everything else, as far as the form has any.
void add_lead(const OutputForm& form, Rules& rules) {
  if (form.reasoning_close.empty()) return rules.add("lead", "\"\"");
  rules.add("reasoning", text_up_to(form.reasoning_close));
  if (form.starts_in_reasoning) return rules.add("lead", "reasoning");
  rules.add("lead", fmt::format("([ \\t\\r\\n]* {} reasoning)?", literal(form.reasoning_open)));
}

}  // namespace

Answer<Grammar> demanded_calls(const OutputForm& form, const std::vector<HeldFunction>& functions,
                               bool is_one_only) {
  const ToolFamily& family = *form.tools;
  Rules rules;
  add_call(family, functions, rules);
  const std::string opened =
      family.is_whole_message ? "call" : fmt::format("{} call", literal(family.open));
  rules.add("opened", opened);
  const bool is_one = is_one_only || family.has_one_call;
  const std::string_view calls = is_one ? "opened" : "opened (\"\\n\" opened)*";
  if (!form.starts_in_reasoning) {
    rules.add("root", calls);
  } else {
    rules.add("reasoning", text_up_to(form.reasoning_close));
    rules.add("root", fmt::format("reasoning \"\\n\"? \"\\n\"? {}", calls));
  }
  return rules.grammar();
}

Answer<Grammar> calls_in_text(const OutputForm& form, const std::vector<HeldFunction>& functions) {
  const ToolFamily& family = *form.tools;
  Rules rules;
  add_call(family, functions, rules);
  add_lead(form, rules);
  if (family.is_whole_message) {
    rules.add("otherwise", text_that_begins_otherwise(kWholeCallStarts));
    rules.add("root", "lead ([ \\t\\r\\n]* call | otherwise)");
  } else {
    rules.add("before", text_up_to(family.open));
    rules.add("rest", text_without(family.open));
    rules.add("root", "lead (before call)* rest");
  }
  return rules.grammar();
}

}  // namespace tokamak::openai
