// Layouts: ggml/src/ggml-common.h (block_q2_K ... block_nvfp4) and the order in which
// dequantize_row_* of ggml/src/ggml-quants.c goes through them.
#include "model/gguf_blocks.h"

#include <array>
#include <cstring>

namespace tokamak {
namespace {

using namespace block_fields;

constexpr uint32_t kSuper = 256;

/// An f16, or two, stay as they are.
void copy(const std::byte* from, uint32_t bytes, std::byte* to) {
  std::memcpy(to, from, bytes);
}

/// Weight i of 32 has the low half of byte i, weight 16 + i the high one.
void nibbles(const std::byte* packed, uint8_t* q) {
  for (uint32_t i = 0; i < 16; ++i) {
    q[i] = uint8_t(u8(packed, i) & 15);
    q[16 + i] = uint8_t(u8(packed, i) >> 4);
  }
}

/// In each half of 128, bits 2k and 2k+1 of byte i are of weight 32 k + i.
void pairs_of_bits(const std::byte* packed, uint8_t* q) {
  for (uint32_t i = 0; i < kSuper; ++i) {
    q[i] = uint8_t(u8(packed, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3);
  }
}

void q2_k_numbers(const std::byte* block, uint8_t* q) {
  pairs_of_bits(block + 16, q);
}
void q2_k_factors(const std::byte* block, std::byte* scales, std::byte*) {
  copy(block + 80, 4, scales);
  copy(block, 16, scales + 4);
}

/// Bit k of byte i of the mask is the third of weight 32 k + i.
void q3_k_numbers(const std::byte* block, uint8_t* q) {
  pairs_of_bits(block + 32, q);
  for (uint32_t i = 0; i < kSuper; ++i) {
    q[i] = uint8_t(q[i] | (u8(block, i % 32) >> (i / 32) & 1) << 2);
  }
}
void q3_k_factors(const std::byte* block, std::byte* scales, std::byte* zeros) {
  const std::byte* packed = block + 96;
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t low = u8(packed, i % 8) >> (i / 8 * 4) & 15;
    const uint32_t high = u8(packed, 8 + i % 4) >> (i / 4 * 2) & 3;
    scales[i] = std::byte(uint8_t(int32_t(low | high << 4) - 32));
  }
  copy(block + 108, 2, zeros);
}

void iq4_nl_numbers(const std::byte* block, uint8_t* q) {
  nibbles(block + 2, q);
}
void first_half(const std::byte* block, std::byte* scales, std::byte*) {
  copy(block, 2, scales);
}

void iq4_xs_numbers(const std::byte* block, uint8_t* q) {
  for (uint32_t i = 0; i < 8; ++i) nibbles(block + 8 + 16 * i, q + 32 * i);
}
void iq4_xs_factors(const std::byte* block, std::byte* scales, std::byte* zeros) {
  const uint32_t tops = u16(block, 2);
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t low = u8(block, 4 + i / 2) >> (i % 2 * 4) & 15, high = tops >> (2 * i) & 3;
    scales[i] = std::byte(uint8_t(int32_t(low | high << 4) - 32));
  }
  copy(block, 2, zeros);
}

void mxfp4_numbers(const std::byte* block, uint8_t* q) {
  nibbles(block + 1, q);
}
void mxfp4_factors(const std::byte* block, std::byte* scales, std::byte*) {
  scales[0] = block[0];
}

/// Four groups of 16, each as a block of mxfp4 is one of 32.
void nvfp4_numbers(const std::byte* block, uint8_t* q) {
  for (uint32_t i = 0; i < 64; ++i) {
    q[i] = uint8_t(u8(block, 4 + i / 16 * 8 + i % 8) >> (i % 16 / 8 * 4) & 15);
  }
}
void nvfp4_factors(const std::byte* block, std::byte* scales, std::byte*) {
  copy(block, 4, scales);
}

/// Five numbers of 0, 1 and 2 are the digits of a byte that counts 256ths of 3^5.
void tq1_0_numbers(const std::byte* block, uint8_t* q) {
  constexpr uint32_t kPowers[] = {1, 3, 9, 27, 81};
  const auto digit = [&](uint32_t byte, uint32_t power) {
    return uint8_t((u8(block, byte) * kPowers[power] & 255) * 3 >> 8);
  };
  for (uint32_t i = 0; i < 160; ++i) q[i] = digit(i % 32, i / 32);
  for (uint32_t i = 0; i < 80; ++i) q[160 + i] = digit(32 + i % 16, i / 16);
  for (uint32_t i = 0; i < 16; ++i) q[240 + i] = digit(48 + i % 4, i / 4);
}
void tq1_0_factors(const std::byte* block, std::byte* scales, std::byte*) {
  copy(block + 52, 2, scales);
}

void tq2_0_numbers(const std::byte* block, uint8_t* q) {
  pairs_of_bits(block, q);
}
void tq2_0_factors(const std::byte* block, std::byte* scales, std::byte*) {
  copy(block + 64, 2, scales);
}

/// A bit is -1 or 1, the numbers 0 and 2 of the levels.
void q1_0_numbers(const std::byte* block, uint8_t* q) {
  for (uint32_t i = 0; i < 128; ++i) q[i] = uint8_t((u8(block, 2 + i / 8) >> (i % 8) & 1) * 2);
}
void q2_0_numbers(const std::byte* block, uint8_t* q) {
  for (uint32_t i = 0; i < 64; ++i) q[i] = uint8_t(u8(block, 2 + i / 4) >> (i % 4 * 2) & 3);
}

constexpr BlockReader kReaders[] = {
    {"q2_k", q2_k_numbers, q2_k_factors},    {"q3_k", q3_k_numbers, q3_k_factors},
    {"iq4_nl", iq4_nl_numbers, first_half},  {"iq4_xs", iq4_xs_numbers, iq4_xs_factors},
    {"mxfp4", mxfp4_numbers, mxfp4_factors}, {"tq1_0", tq1_0_numbers, tq1_0_factors},
    {"tq2_0", tq2_0_numbers, tq2_0_factors}, {"q1_0", q1_0_numbers, first_half},
    {"q2_0", q2_0_numbers, first_half},      {"nvfp4", nvfp4_numbers, nvfp4_factors},
};

/// Indexed by DType: a row of a matrix asks for it.
using Readers = std::array<const BlockReader*, 256>;
Readers all_readers() {
  Readers all{};
  for (const auto some : {std::span<const BlockReader>(kReaders), grid_block_readers()}) {
    for (const BlockReader& reader : some)
      all[size_t(dtype_from_name(reader.type).value())] = &reader;
  }
  return all;
}

}  // namespace

const BlockReader* block_reader(DType type) {
  static const Readers readers = all_readers();
  return readers[size_t(type)];
}

}  // namespace tokamak
