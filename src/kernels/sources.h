// The WGSL files of this folder, embedded at build time by tools/embed.py.
#pragma once
#include <span>
#include <string>
#include <string_view>

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

/// What every shader begins with: the batch, and which rows are whose.
std::string batch_text(const BatchAccess& access);

/// The whole shader: enables, constants, binding numbers, sources. The binding numbers are 0 for
/// the batch, then INPUT_0 ..., then OUTPUT_0 ..., counted in operand order.
std::string shader_text(Features features, const Launch& launch, size_t inputs, size_t outputs,
                        const BatchAccess& access);

}  // namespace tokamak
