// WGSL texts become a tree: a recursive descent through the part of the language that the kernels
// are written in. What is beyond that part is an error, so that a new kernel says at its first test
// what the writer has to learn.
#pragma once
#include <span>

#include "kernels/cuda/lexer.h"

namespace tokamak::wgsl {

/// The module that `pieces` are together; it points into them. Errors name the piece and the line.
Result<Module> parse(std::span<const ShaderPiece> pieces);

}  // namespace tokamak::wgsl
