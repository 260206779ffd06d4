// The processor, where it is named and where there is no GPU.
#pragma once
#include <functional>
#include <memory>

#include "engine/engine.h"

namespace tokamak {

/// A GPU by WebGPU, which `open_webgpu` opens, else the processor, with a notice: a software driver
/// would compute on the same cores, slowly.
Result<std::unique_ptr<Backend>> open_webgpu_or_processor(
    const OpenOptions& options,
    const std::function<Result<std::unique_ptr<Backend>>()>& open_webgpu);

}  // namespace tokamak
