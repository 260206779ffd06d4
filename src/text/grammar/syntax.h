// Grammars in GBNF, the notation of llama.cpp (grammars/README.md there): text -> syntax tree.
//
//   root   ::= "[" (number ("," number)*)? "]"    # a list of numbers
//   number ::= [0-9]{1,3}
//
// Literals and classes have the escapes \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH; `.` is
// any character; * + ? {n} {n,} {n,m} repeat; a rule ends where the next one, `name ::=`, begins.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tokamak::grammar {

inline constexpr size_t kMaxRules = 4096;
/// Limits groups in groups.
inline constexpr uint32_t kMaxSyntaxDepth = 150;
/// The limit of numbers in {n,m}.
inline constexpr uint32_t kMaxRepeats = 1000;

/// A part of a rule. What it has depends on its kind.
struct Node {
  enum class Kind : uint8_t { kLiteral, kClass, kRule, kSequence, kChoice, kRepeat };
  static constexpr uint32_t kNoLimit = UINT32_MAX;

  Kind kind = Kind::kSequence;
  std::string text;                                   // literal: UTF-8; rule: its name
  std::vector<std::pair<char32_t, char32_t>> ranges;  // class: ascending, apart, inclusive
  std::vector<Node> children;                         // sequence, choice; repeat: one
  uint32_t least = 0, most = kNoLimit;                // repeat
  uint32_t line = 0;                                  // rule: for messages
};

struct Rule {
  std::string name;
  Node body;
  uint32_t line = 0;
};

/// The rules in the order of the text. Errors name the line: "line 3: ...".
Result<std::vector<Rule>> parse(std::string_view source);

}  // namespace tokamak::grammar
