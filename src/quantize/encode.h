// Rounds rows of floats to the blocks of GGUF's types: the inverse of repack_gguf.cpp and
// gguf_blocks.cpp. The types of 32 weights are rounded as ggml's quantize_row_*_ref do, bit by bit,
// where columns count alike; those of 256, and of 32 else, by a search for the factors of the least
// weighted error. q8_0 is always rounded as there.
#pragma once
#include <cstddef>
#include <span>

#include "base/dtype.h"
#include "base/result.h"

namespace tokamak {

/// Whether encode_row() writes this type.
bool is_encoded(DType type);

/// Writes `row` as `type`. `importance`: how much a squared error counts in each column, or empty:
/// then large weights count more. Errors: a number that is not finite, or beyond what the type
/// holds; they name its column. REQUIRES: is_encoded(type); whole blocks.
Result<void> encode_row(DType type, std::span<const float> row, std::span<const float> importance,
                        std::byte* out);

/// The part of encode_row() for blocks of 256. REQUIRES: finite numbers within an f16.
void encode_super_block(DType type, std::span<const float> values,
                        std::span<const float> importance, std::byte* out);

}  // namespace tokamak
