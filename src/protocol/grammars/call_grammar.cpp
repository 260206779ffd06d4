#include "protocol/grammars/call_grammar.h"

#include <algorithm>

#include "protocol/grammars/channel_grammar.h"
#include "protocol/grammars/grammar_rules.h"
#include "protocol/grammars/open_texts.h"
#include "text/grammar/token_bytes.h"

namespace tokamak::protocol {
namespace {

/// The rule `call`: all of a call but the mark that opens it.
void add_call(const OutputFormat& form, const std::vector<ConstrainedFunction>& functions,
              GrammarRules& rules) {
  const ToolFamily& family = *form.tools;
  const std::string_view line = family.close.empty() ? "" : "\n";
  std::string any;
  for (size_t i = 0; i < functions.size(); ++i) {
    any += fmt::format("{}call-{}", i == 0 ? "" : " | ", i);
    rules.add(fmt::format("call-{}", i),
              fmt::format("{} arguments-{} {} close",
                          literal(fmt::format("{}{}{}{}", line, kCallStart, functions[i].name,
                                              call_middle(family))),
                          i, literal(fmt::format("}}{}", line))));
    rules.add(fmt::format("arguments-{}", i), functions[i].arguments);
  }
  rules.add("close", mark_alone(mark_in_grammar(form, family.close)));
  rules.add("call", any);
}

/// The rule `lead`: reasoning in front of everything else, as far as the form has any.
void add_lead(const OutputFormat& form, GrammarRules& rules) {
  if (form.reasoning_close.empty()) return rules.add("lead", "\"\"");
  rules.add("reasoning", text_up_to(mark_in_grammar(form, form.reasoning_close)));
  if (form.starts_in_reasoning) return rules.add("lead", "reasoning");
  rules.add("think", mark_alone(mark_in_grammar(form, form.reasoning_open)));
  rules.add("lead", "([ \\t\\r\\n]* think reasoning)?");
}

}  // namespace

std::string mark_in_grammar(const OutputFormat& form, std::string_view mark) {
  const auto& special = form.special_marks;
  const bool is_special = std::ranges::find(special, mark) != special.end();
  return (is_special ? std::string(1, kSpecialMark) : "") + std::string(mark);
}

Answer<Grammar> demanded_calls(const OutputFormat& form,
                               const std::vector<ConstrainedFunction>& functions,
                               bool is_one_only) {
  if (form.has_channels) return demanded_channel_call(form, functions);
  const ToolFamily& family = *form.tools;
  GrammarRules rules;
  add_call(form, functions, rules);
  rules.add("open", mark_alone(mark_in_grammar(form, family.open)));
  rules.add("opened", family.is_whole_message ? "call" : "open call");
  const bool is_one = is_one_only || family.has_one_call;
  const std::string_view calls = is_one ? "opened" : "opened (\"\\n\" opened)*";
  if (!form.starts_in_reasoning) {
    rules.add("root", calls);
  } else {
    rules.add("reasoning", text_up_to(mark_in_grammar(form, form.reasoning_close)));
    rules.add("root", fmt::format("reasoning \"\\n\"? \"\\n\"? {}", calls));
  }
  return rules.grammar();
}

Answer<Grammar> calls_in_text(const OutputFormat& form,
                              const std::vector<ConstrainedFunction>& functions) {
  if (form.has_channels) return calls_in_channels(form, functions);
  GrammarRules rules;
  add_call(form, functions, rules);
  add_lead(form, rules);
  if (form.tools->is_whole_message) {
    rules.add("otherwise", text_not_starting_with(kWholeCallStarts));
    rules.add("root", "lead ([ \\t\\r\\n]* call | otherwise)");
  } else {
    const std::string open = mark_in_grammar(form, form.tools->open);
    rules.add("before", text_up_to(open));
    rules.add("rest", text_without(open));
    rules.add("root", "lead (before call)* rest");
  }
  return rules.grammar();
}

}  // namespace tokamak::protocol
