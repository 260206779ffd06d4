// Words, numbers and signs of a WGSL text, with their places.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/cuda/tree.h"
#include "kernels/sources.h"

namespace tokamak::wgsl {

enum class TokenKind : uint8_t {
  kWord,
  kNumber,
  kSign,
  kUnroll,  // the remark after the brace of a loop; its text is the limit, "" without one
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  Place at;
};

/// "linear/matvec.wgsl:12: message", for what stands in `pieces`.
Failure text_error(std::span<const ShaderPiece> pieces, Place at, std::string_view message);

/// All tokens of the pieces, kEnd last. They point into the pieces. Errors: a character that no
/// token of WGSL begins with.
Result<std::vector<Token>> tokens_of(std::span<const ShaderPiece> pieces);

}  // namespace tokamak::wgsl
