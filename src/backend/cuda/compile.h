// One text through NVRTC.
#pragma once
#include <string>
#include <vector>

#include "backend/cuda/library.h"

namespace tokamak::cuda {

/// "sm_90": what a cubin is for. Cubins run with every driver of the same major version, PTX does
/// not with an older one.
std::string architecture_name(int architecture);

/// The options that a text is compiled with: IEEE arithmetic, nothing approximate.
std::vector<std::string> compile_options(int architecture);

/// The machine code of `text` (kernels/cuda/translate.h). Errors: NVRTC's own words about it.
/// Several threads may call it at once.
Result<std::vector<uint8_t>> compile_text(const Compiler& compiler, std::string_view kernel,
                                          const std::string& text, int architecture);

}  // namespace tokamak::cuda
