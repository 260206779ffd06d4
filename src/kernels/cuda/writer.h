// A module of WGSL becomes CUDA C++ for wgsl.cuh and device.cuh.
//
// The module becomes a struct whose members are its declarations: functions see each other and all
// variables, whatever their order. Differences of the languages that the text must bear:
//   - variables begin as zero, workgroup memory does not (as WebGPU devices are asked for it);
//   - shifts count the lower five bits of their right side;
//   - floats become integers with the ends of the type as limits;
//   - loops with the remark of kernels/unroll.h carry a pragma.
// Two things that WGSL defines are left to the device, since no kernel needs them: division by zero
// (which ends a program on the emulator), and signed numbers that overflow.
#pragma once
#include <string>

#include "kernels/cuda/lexer.h"

namespace tokamak::wgsl {

/// Errors: a name that neither the module nor wgsl.cuh has, with its place in `pieces`.
Result<std::string> written(const Module& module, std::span<const ShaderPiece> pieces);

}  // namespace tokamak::wgsl
