#include "protocol/grammars/channel_grammar.h"

#include "protocol/grammars/grammar_rules.h"
#include "protocol/grammars/open_texts.h"
#include "protocol/output/channels.h"
#include "text/grammar/token_bytes.h"

namespace tokamak::protocol {
namespace {

std::string special(std::string_view mark) {
  return kSpecialMark + std::string(mark);
}

/// The rules `start`, `channel`, `constrain` and `message` of marks, `body`: a text and the mark
/// that ends it, `next`: the beginning of a header, and `json`: the end of one in front of JSON.
GrammarRules rules_of_marks() {
  GrammarRules rules;
  rules.add("start", mark_alone(special(kStartMark)));
  rules.add("channel", mark_alone(special(kChannelMark)));
  rules.add("constrain", mark_alone(special(kConstrainMark)));
  rules.add("message", mark_alone(special(kMessageMark)));
  rules.add("body", text_up_to(special(kEndMark)));
  rules.add("next", "start \"assistant\"");
  rules.add("json", "(\" \"? constrain \"json\" | \" json\")? message");
  return rules;
}

/// The rule `root`: `last` after `lead`, in whose place the rest of a message is that the prompt
/// has begun.
void add_root(const OutputFormat& form, std::string_view lead, std::string_view last,
              GrammarRules& rules) {
  const bool is_begun = form.opened.ends_with(kMessageMark);
  rules.add("root", fmt::format("{} {}", is_begun ? "body next" : lead, last));
}

constexpr std::string_view kReasoning = "(channel \"analysis\" message body next)?";

/// The rule `call`.
void add_call(const std::vector<ConstrainedFunction>& functions, GrammarRules& rules) {
  std::string any;
  for (size_t i = 0; i < functions.size(); ++i) {
    const std::string to = literal(" to=functions." + functions[i].name);
    any += fmt::format("{}call-{}", i == 0 ? "" : " | ", i);
    rules.add(fmt::format("call-{}", i),
              fmt::format("(channel \"commentary\" {0} | {0} channel \"commentary\") json "
                          "arguments-{1}",
                          to, i));
    rules.add(fmt::format("arguments-{}", i), functions[i].arguments);
  }
  rules.add("call", any);
}

/// Whether the prompt has begun the final message, so that the answer is its body.
bool is_in_final(const OutputFormat& form) {
  return form.opened.ends_with(fmt::format("final{}", kMessageMark));
}

}  // namespace

Answer<Grammar> final_message(const OutputFormat& form, const Grammar& answer) {
  if (is_in_final(form)) return answer;
  GrammarRules rules = rules_of_marks();
  rules.add("answer", answer);
  add_root(form, kReasoning, "channel \"final\" json answer", rules);
  return rules.grammar();
}

Answer<Grammar> demanded_channel_call(const OutputFormat& form,
                                      const std::vector<ConstrainedFunction>& functions) {
  GrammarRules rules = rules_of_marks();
  add_call(functions, rules);
  add_root(form, kReasoning, "call", rules);
  return rules.grammar();
}

Answer<Grammar> calls_in_channels(const OutputFormat& form,
                                  const std::vector<ConstrainedFunction>& functions) {
  if (is_in_final(form)) return any_text();
  GrammarRules rules = rules_of_marks();
  add_call(functions, rules);
  rules.add("text", any_text());
  rules.add("open", "channel (\"analysis\" | \"commentary\" | \"final\") message");
  add_root(form, "", "(open body next)* (open text | call)", rules);
  return rules.grammar();
}

}  // namespace tokamak::protocol
