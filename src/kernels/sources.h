// The WGSL files of this folder, embedded at build time by tools/embed.py.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "kernels/kernel.h"

namespace tokamak {

struct EmbeddedFile {
  std::string_view name;  // relative to src/kernels: "norm/rms_norm.wgsl"
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

/// REQUIRES: the file exists (variant tables and files are checked against each other by a test).
std::string_view embedded_text(std::string_view name);

/// The whole shader: enables, constants, binding numbers, sources. The binding numbers are
/// FRAME = 0, then INPUT_0 ..., then OUTPUT_0 ..., counted in operand order.
std::string shader_text(Features features, const Launch& launch, size_t inputs, size_t outputs);

}  // namespace tokamak
