// The kernels of CUDA devices: those of WebGPU, translated.
#pragma once
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {

/// A row for each of `webgpu` that has no matrix units and is not for a processor's cores:
/// "rms_norm.wgsl.subgroup" is "rms_norm.cuda.subgroup" there. Empty in a browser.
std::vector<KernelVariant> cuda_variants(std::span<const KernelVariant> webgpu);

}  // namespace tokamak
