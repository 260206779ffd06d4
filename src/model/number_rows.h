// Rows of a packed type whose numbers are read one by one: of files that hold them in another order
// than the device.
#pragma once
#include <cstring>
#include <memory>
#include <span>

#include "model/repack.h"

namespace tokamak {

/// Reads the numbers of a matrix from a file, row by row.
class NumberReader {
 public:
  virtual ~NumberReader() = default;

  /// The q of a row, by column.
  virtual void numbers(uint64_t row, std::span<uint8_t> q) const = 0;
  /// The bytes of a row in the streams of scales and zeros.
  virtual void scales(uint64_t row, std::byte* out) const = 0;
  virtual void zeros(uint64_t row, std::byte* out) const = 0;
};

/// REQUIRES: `type` is packed.
std::unique_ptr<RowSource> number_rows(std::unique_ptr<NumberReader> reader, DType type,
                                       uint64_t columns);

/// Packs the bits of `q` that the low or high stream has. REQUIRES: a multiple of 8 of them.
void pack_numbers(const WeightFormat& format, Stream stream, std::span<const uint8_t> q,
                  std::byte* out);

inline uint32_t word_at(std::span<const std::byte> bytes, uint64_t i) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
  return word;
}

/// Number `i` of `bits` bits of a stream whose words are word(0), word(1) and so on.
template <typename Word>
uint32_t number_of(const Word& word, uint64_t i, uint32_t bits) {
  const uint64_t bit = i * bits;
  const uint32_t shift = uint32_t(bit % 32);
  uint32_t value = word(bit / 32) >> shift;
  if (shift + bits > 32) value |= word(bit / 32 + 1) << (32 - shift);
  return value & ((1u << bits) - 1);
}

/// Number `i` of a stream of numbers of `bits` bits, at most 8, the lowest bit first.
uint8_t number_in(const std::byte* stream, uint64_t i, uint32_t bits);

}  // namespace tokamak
