#include "kernels/cuda/translate.h"

#include "kernels/cuda/parser.h"
#include "kernels/cuda/writer.h"

namespace tokamak::wgsl {

Result<std::string> translated(std::span<const ShaderPiece> pieces) {
  TOK_TRY(const Module module, parse(pieces));
  return written(module, pieces);
}

}  // namespace tokamak::wgsl
