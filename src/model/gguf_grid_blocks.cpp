// Blocks whose weights are rows of a codebook with signs. On the device a sign and a digit are one
// number, the place of a level: see kIq1Levels, kIq2Levels, kIq3XxsLevels and kIq3SLevels.
// Layouts: ggml/src/ggml-common.h (block_iq1_s ... block_iq3_s) and dequantize_row_* of
// ggml/src/ggml-quants.c.
#include <bit>
#include <cstring>

#include "model/gguf_blocks.h"
#include "model/gguf_grids.h"

namespace tokamak {
namespace {

using namespace block_fields;

uint32_t nibble(const std::byte* bytes, uint32_t i) {
  return u8(bytes, i / 2) >> (i % 2 * 4) & 15;
}

/// The signs of eight weights, of which the file has seven: the number of minus signs is even.
uint32_t even_signs(uint32_t seven) {
  return seven | uint32_t(std::popcount(seven) % 2) << 7;
}

/// The levels of the negative weights come after the `digits` positive ones.
void put(const GridRow& row, uint32_t count, uint32_t digits, uint32_t signs, uint8_t* q) {
  for (uint32_t i = 0; i < count; ++i) {
    q[i] = uint8_t(row[i] + ((signs >> i & 1) != 0 ? digits : 0));
  }
}

/// Scales of 2 s + 1, times the f16 at the beginning: each s has four bits from byte kFirst on.
template <uint32_t kGroups, uint32_t kFirst>
void nibble_scales(const std::byte* block, std::byte* scales, std::byte* zeros) {
  for (uint32_t i = 0; i < kGroups; ++i) scales[i] = std::byte(2 * nibble(block + kFirst, i) + 1);
  std::memcpy(zeros, block, 2);
}

/// The same of eight s that are the top bits of words, kStep bytes apart.
template <uint32_t kFirst, uint32_t kStep>
void word_scales(const std::byte* block, std::byte* scales, std::byte* zeros) {
  for (uint32_t i = 0; i < 8; ++i) {
    scales[i] = std::byte(2 * (u32(block, kFirst + kStep * i) >> 28) + 1);
  }
  std::memcpy(zeros, block, 2);
}

/// For 32 weights four bytes of rows and a word: four times seven signs, and the scale.
void iq2_xxs_numbers(const std::byte* block, uint8_t* q) {
  const Grid grid = iq2_xxs_grid();
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t at = 2 + i / 4 * 8, signs = u32(block, at + 4) >> (7 * (i % 4)) & 127;
    put(grid[u8(block, at + i % 4)], 8, 3, even_signs(signs), q + 8 * i);
  }
}

/// For 8 weights nine bits of a row and seven signs.
void iq2_xs_numbers(const std::byte* block, uint8_t* q) {
  const Grid grid = iq2_xs_grid();
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t word = u16(block, 2 + 2 * i);
    put(grid[word & 511], 8, 3, even_signs(word >> 9), q + 8 * i);
  }
}

void iq2_s_numbers(const std::byte* block, uint8_t* q) {
  const Grid grid = iq2_s_grid();
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t top = u8(block, 66 + i / 4) >> (2 * (i % 4)) & 3;
    put(grid[u8(block, 2 + i) | top << 8], 8, 3, u8(block, 34 + i), q + 8 * i);
  }
}

/// For 4 weights a byte of a row; words of signs and scales as in IQ2_XXS come after all rows.
void iq3_xxs_numbers(const std::byte* block, uint8_t* q) {
  const Grid grid = iq3_xxs_grid();
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t eight = i / 2, seven = u32(block, 66 + eight / 4 * 4) >> (7 * (eight % 4)) & 127;
    put(grid[u8(block, 2 + i)], 4, 8, even_signs(seven) >> (i % 2 * 4), q + 4 * i);
  }
}

void iq3_s_numbers(const std::byte* block, uint8_t* q) {
  const Grid grid = iq3_s_grid();
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t top = u8(block, 66 + i / 8) >> (i % 8) & 1;
    const uint32_t signs = u8(block, 74 + i / 2) >> (i % 2 * 4);
    put(grid[u8(block, 2 + i) | top << 8], 4, 8, signs, q + 4 * i);
  }
}

/// A word for 32 weights has the top bits of four rows, the scale, and whether 1/8 is taken off
/// all weights or added to them.
void iq1_s_numbers(const std::byte* block, uint8_t* q) {
  const Grid grid = iq1_grid();
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t word = u16(block, 34 + i / 4 * 2), top = word >> (3 * (i % 4)) & 7;
    const uint32_t signs = (word >> 15) != 0 ? 255 : 0;
    put(grid[u8(block, 2 + i) | top << 8], 8, 3, signs, q + 8 * i);
  }
}
void iq1_s_factors(const std::byte* block, std::byte* scales, std::byte* zeros) {
  for (uint32_t i = 0; i < 8; ++i) {
    scales[i] = std::byte(2 * (u16(block, 34 + 2 * i) >> 12 & 7) + 1);
  }
  std::memcpy(zeros, block, 2);
}

/// Four words have four scales of three bits each, and above those a quarter of the f16.
void iq1_m_numbers(const std::byte* block, uint8_t* q) {
  const Grid grid = iq1_grid();
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t half = nibble(block + 32, i);
    const uint32_t signs = (half & 8) != 0 ? 255 : 0;
    put(grid[u8(block, i) | (half & 7) << 8], 8, 3, signs, q + 8 * i);
  }
}
void iq1_m_factors(const std::byte* block, std::byte* scales, std::byte* zeros) {
  uint32_t half = 0;
  for (uint32_t i = 0; i < 4; ++i) half |= u16(block, 48 + 2 * i) >> 12 << (4 * i);
  for (uint32_t i = 0; i < 16; ++i) {
    scales[i] = std::byte(2 * (u16(block, 48 + i / 4 * 2) >> (3 * (i % 4)) & 7) + 1);
  }
  zeros[0] = std::byte(half & 255);
  zeros[1] = std::byte(half >> 8);
}

constexpr BlockReader kReaders[] = {
    {"iq1_s", iq1_s_numbers, iq1_s_factors},
    {"iq1_m", iq1_m_numbers, iq1_m_factors},
    {"iq2_xxs", iq2_xxs_numbers, word_scales<6, 8>},
    {"iq2_xs", iq2_xs_numbers, nibble_scales<16, 66>},
    {"iq2_s", iq2_s_numbers, nibble_scales<16, 74>},
    {"iq3_xxs", iq3_xxs_numbers, word_scales<66, 4>},
    {"iq3_s", iq3_s_numbers, nibble_scales<8, 106>},
};

}  // namespace

std::span<const BlockReader> grid_block_readers() {
  return kReaders;
}

}  // namespace tokamak
