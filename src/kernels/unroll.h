// Loops unrolled in a kernel's text.
//
// WGSL has no way to ask for it, and compilers that keep a loop keep the arrays that it indexes in
// memory, where they should be registers.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "kernels/kernel.h"

namespace tokamak {

/// The mark after the brace of a loop.
inline constexpr std::string_view kUnrollMark = "// unroll";
inline constexpr std::string_view kUnrollLimit = ", at most ";

/// Loops of up to this many rounds are unrolled; longer ones stay loops.
inline constexpr uint32_t kMaxRounds = 8;

/// The text with each loop of this form replaced by its rounds, loops inside of it too:
///     for (var i = 0u; i < COUNT; i++) {  // unroll
///     }
/// COUNT is a number or one of `constants`, the brace that ends it stands under its `for`. In a
/// round, `i` is a constant. The loop must not `break` or `continue`: the build refuses another
/// form, with its line (cuda/parser_statements.cpp, cuda/check_texts.cpp). A loop that is marked
/// `unroll, at most MOST` stays from fewer rounds on: MOST is a number or a constant, too.
std::string unroll_loops(std::string_view text, std::span<const Constant> constants);

}  // namespace tokamak
