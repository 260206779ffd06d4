// JSON as GBNF (docs/grammars.md).
#pragma once
#include <string_view>

namespace tokamak::openai {

/// Rules for object, value, array, string, number and ws; white space has an end, models may not.
inline constexpr std::string_view kJsonRules = R"(
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ":" ws value ws
array  ::= "[" ws (value ws ("," ws value ws)*)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
ws     ::= (" " | "\n" " "{0,16})?
)";

}  // namespace tokamak::openai
