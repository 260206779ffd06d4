// The WGSL files of this folder, embedded at build time by tools/embed.py.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "kernels/kernel.h"

namespace tokamak {

/// Named relative to src/kernels.
std::span<const EmbeddedFile> embedded_files();

/// REQUIRES: the file exists (variant tables and files are checked against each other by a test).
std::string_view embedded_text(std::string_view name);

/// Begins the name of a source in Launch::sources that a kernel has a second time, for another
/// matrix: the codec of the second product of GatedFfn.
inline constexpr std::string_view kSecond = "second:";

/// The text of a source in Launch::sources. After kSecond every name of quant/codec.h, and every
/// constant, ends in _2.
std::string source_text(std::string_view source);

/// The hash of every source of this folder: it changes when any kernel or its launch may have
/// changed.
std::string_view kernel_sources_hash();

/// A part of a shader with a name for messages: that of its file, or what it is.
struct ShaderPiece {
  std::string name;
  std::string text;
};

/// The shader without enables, its loops as they are written: constants, binding numbers, the
/// batch and which rows are whose, sources. The binding numbers are 0 for the batch, then
/// INPUT_0 ..., then OUTPUT_0 ..., counted in operand order.
std::vector<ShaderPiece> shader_pieces(const Launch& launch, size_t inputs, size_t outputs,
                                       const BatchAccess& access);

/// The whole shader in WGSL: enables and shader_pieces(), with loops unrolled.
std::string shader_text(Features features, const Launch& launch, size_t inputs, size_t outputs,
                        const BatchAccess& access);

}  // namespace tokamak
