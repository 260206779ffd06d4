// Texts of any bytes but for one thing, as grammars: what a model says around what it is held to.
// A mark may be a special token, which begins with kSpecialMark; texts have no others.
#pragma once
#include <span>
#include <string_view>

#include "text/grammar/grammar.h"

namespace tokamak::protocol {

Grammar any_text();
/// A text, or a special token.
Grammar mark_alone(std::string_view mark);
/// Up to the first `mark`, which is its end. REQUIRES: a mark, here and below.
Grammar text_up_to(std::string_view mark);
/// In which `mark` does not come.
Grammar text_without(std::string_view mark);
/// That does not begin with one of these, where white space between tokens of JSON says nothing:
/// R"({"name":")" is the beginning of `{ "name" : "f"`.
Grammar text_not_starting_with(std::span<const std::string_view> beginnings);

}  // namespace tokamak::protocol
