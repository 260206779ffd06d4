// The CUDA C++ of a kernel that is written in WGSL. docs/decisions/0034-cuda-from-wgsl.md says why.
#pragma once
#include <string>

#include "base/embedded_file.h"
#include "base/result.h"
#include "kernels/sources.h"

namespace tokamak::wgsl {

/// The text for NVRTC, which includes "device.cuh" and "wgsl.cuh". Errors name the piece and the
/// line of what has no translation.
Result<std::string> translated(std::span<const ShaderPiece> pieces);

/// "device.cuh" and "wgsl.cuh".
std::span<const EmbeddedFile> headers();

}  // namespace tokamak::wgsl
