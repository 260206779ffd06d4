// The blocks of GGUF types whose numbers are taken out one by one: those that the device has in
// another order or in more bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace tokamak {

/// Fields of a block, which have no particular alignment; the lowest byte comes first.
namespace block_fields {
inline uint32_t u8(const std::byte* bytes, uint32_t i) {
  return uint32_t(bytes[i]);
}
inline uint32_t u16(const std::byte* bytes, uint32_t at) {
  return u8(bytes, at) | u8(bytes, at + 1) << 8;
}
inline uint32_t u32(const std::byte* bytes, uint32_t at) {
  return u16(bytes, at) | u16(bytes, at + 2) << 16;
}
}  // namespace block_fields

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
