// The blocks of GGUF types whose numbers are taken out one by one: those that the device has in
// another order or in more bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace tokamak {

struct BlockReader {
  std::string_view type;
  /// The q of every weight of a block.
  void (*numbers)(const std::byte* block, uint8_t* q);
  /// The bytes of a block in the streams of scales and zeros.
  void (*factors)(const std::byte* block, std::byte* scales, std::byte* zeros);
};

/// Those of the types with codebooks, IQ1 to IQ3.
std::span<const BlockReader> grid_block_readers();

/// Null for types that repack_gguf.cpp takes apart by words.
const BlockReader* block_reader(DType type);

}  // namespace tokamak
