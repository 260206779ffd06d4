// The bytes that grammars read for tokens.
#pragma once
#include <cstdint>
#include <string>

namespace tokamak {

class Tokenizer;

/// A special token is this byte, which no text has, and its name. So it follows only where a
/// grammar names it: it is not shown, and could follow itself for ever.
inline constexpr char kSpecialMark = '\xFF';

/// The bytes that a grammar reads for a token of a text, which it begins or not. Nothing for one
/// that never follows.
std::string grammar_bytes(const Tokenizer& tokenizer, uint32_t id, bool begins = false);

}  // namespace tokamak
