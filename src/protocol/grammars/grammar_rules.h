// Rules in GBNF, and those of other grammars that they call.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/requests/api_error.h"
#include "text/grammar/grammar.h"

namespace tokamak::protocol {

class GrammarRules {
 public:
  void add(std::string_view name, std::string_view body) {
    gbnf_ += fmt::format("{} ::= {}\n", name, body);
  }
  void add(std::string name, Grammar grammar) {
    grammars_.emplace_back(std::move(name), std::move(grammar));
  }
  /// Begins with the rule `root`. Errors name the field `tools`.
  Answer<Grammar> grammar() const {
    std::vector<Grammar::Named> others;
    for (const auto& [name, grammar] : grammars_) others.push_back({name, &grammar});
    return answer(Grammar::parse(gbnf_, others), "tools");
  }

 private:
  std::string gbnf_;
  std::vector<std::pair<std::string, Grammar>> grammars_;
};

/// An ASCII text in GBNF.
inline std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("\\x{:02X}", uint32_t{uint8_t(c)});
  return "\"" + out + "\"";
}

}  // namespace tokamak::protocol
