// GGUF's blocks. Layouts: ggml/src/ggml-common.h (block_q8_0 ... block_q6_K) and the order in which
// dequantize_row_* of ggml/src/ggml-quants.c goes through them.
#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "model/repack.h"

namespace tokamak {
namespace {

/// Where the fields of a block begin.
struct Block {
  uint32_t weights, bytes;
  uint32_t scales, low, high;  // byte offsets; high: of the types that have a stream for it
  uint32_t scale_bytes;        // that stay together in the stream of scales
};

Block block_of(DType type) {
  switch (type) {
    case DType::kQ8_0:
      return {32, 34, 0, 2, 0, 2};
    case DType::kQ4_0:
      return {32, 18, 0, 2, 0, 2};
    case DType::kQ4_1:
      return {32, 20, 0, 4, 0, 4};
    case DType::kQ5_0:
      return {32, 22, 0, 6, 2, 2};
    case DType::kQ5_1:
      return {32, 24, 0, 8, 4, 4};
    case DType::kQ4_K:
      return {256, 144, 0, 16, 0, 16};
    case DType::kQ5_K:
      return {256, 176, 0, 48, 16, 16};
    default:
      break;
  }
  TOK_CHECK(type == DType::kQ6_K);
  return {256, 210, 192, 0, 128, 16};
}

constexpr uint32_t kSuperScale = 208;  // of kQ6_K: its f16

using Bits = std::array<uint8_t, 256>;  // the high bits of each q of a block

/// The low halves of eight bytes side by side, the first one lowest.
uint32_t low_halves(uint64_t bytes) {
  bytes &= 0x0f0f0f0f0f0f0f0f;
  bytes = (bytes | bytes >> 4) & 0x00ff00ff00ff00ff;
  bytes = (bytes | bytes >> 8) & 0x0000ffff0000ffff;
  return uint32_t(bytes | bytes >> 16);
}

/// The low 4 bits, of which the file has `run` in the low halves of as many bytes and the next in
/// the high halves: neighbours go side by side. Eight bytes at a time: it is most of loading.
void repack_nibbles(const uint8_t* packed, uint32_t weights, uint32_t run, std::byte* out) {
  static_assert(std::endian::native == std::endian::little);
  for (uint32_t at = 0; at < weights; at += 2 * run, packed += run, out += run) {
    for (uint32_t i = 0; i < run; i += 8) {
      uint64_t eight = 0;
      std::memcpy(&eight, packed + i, sizeof eight);
      const uint32_t first = low_halves(eight), second = low_halves(eight >> 4);
      std::memcpy(out + i / 2, &first, sizeof first);
      std::memcpy(out + (run + i) / 2, &second, sizeof second);
    }
  }
}

/// kQ5_K: bit k of byte i is of weight 32 k + i.
void high_bits_q5(const uint8_t* packed, Bits& out) {
  for (uint32_t i = 0; i < 256; ++i) out[i] = (packed[i % 32] >> (i / 32)) & 1;
}

/// kQ6_K: in each half of 128, bits 2k and 2k+1 of byte i are of weight 32 k + i.
void high_bits_q6(const uint8_t* packed, Bits& out) {
  for (uint32_t i = 0; i < 256; ++i) {
    out[i] = (packed[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
  }
}

/// `width` bits of each, the first one lowest.
void pack(const Bits& bits, uint32_t weights, uint32_t width, std::byte* out) {
  const uint32_t per_byte = 8 / width;
  for (uint32_t i = 0; i < weights / per_byte; ++i) {
    uint32_t byte = 0;
    for (uint32_t j = 0; j < per_byte; ++j) {
      byte |= uint32_t{bits[i * per_byte + j]} << (j * width);
    }
    out[i] = std::byte(byte);
  }
}

void repack_low(DType type, const std::byte* block, const Block& b, std::byte* out) {
  if (type == DType::kQ8_0) {
    std::memcpy(out, block + b.low, b.weights);
    return;
  }
  // 4- and 5-bit blocks of 32 hold halves of 16, those of 256 runs of 32, kQ6_K runs of 64.
  const uint32_t run = b.weights == 32 ? 16 : type == DType::kQ6_K ? 64 : 32;
  repack_nibbles(reinterpret_cast<const uint8_t*>(block + b.low), b.weights, run, out);
}

void repack_high(DType type, const std::byte* block, const Block& b, std::byte* out) {
  const auto* packed = reinterpret_cast<const uint8_t*>(block + b.high);
  Bits bits;
  if (type == DType::kQ5_K) {
    high_bits_q5(packed, bits);
    pack(bits, b.weights, 1, out);
  } else if (type == DType::kQ6_K) {
    high_bits_q6(packed, bits);
    pack(bits, b.weights, 2, out);
  } else {
    std::memcpy(out, packed, 4);  // bit i is of weight i already
  }
}

class BlockRows final : public RowSource {
 public:
  BlockRows(DType type, uint64_t columns, std::span<const std::byte> bytes)
      : type_(type), columns_(columns), bytes_(bytes) {}

  void write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
             size_t stride) const override {
    const uint64_t row = block_row_bytes(type_, columns_);
    for (uint64_t i = 0; i < count; ++i) {
      repack_block_row(type_, stream, bytes_.data() + (first + i) * row, columns_,
                       out + i * stride);
    }
  }

 private:
  DType type_;
  uint64_t columns_;
  std::span<const std::byte> bytes_;
};

}  // namespace

uint64_t block_row_bytes(DType type, uint64_t columns) {
  const Block b = block_of(type);
  return columns / b.weights * b.bytes;
}

void repack_block_row(DType type, Stream stream, const std::byte* blocks, uint64_t columns,
                      std::byte* out) {
  const Block b = block_of(type);
  const uint64_t count = columns / b.weights;
  const uint64_t step = stream_row_bytes(packing(type), stream, b.weights);
  for (uint64_t i = 0; i < count; ++i, blocks += b.bytes, out += step) {
    switch (stream) {
      case Stream::kLow:
        repack_low(type, blocks, b, out);
        break;
      case Stream::kHigh:
        repack_high(type, blocks, b, out);
        break;
      case Stream::kScales:
        std::memcpy(out, blocks + b.scales, b.scale_bytes);
        break;
      case Stream::kZeros:
        std::memcpy(out, blocks + kSuperScale, 2);
        break;
    }
  }
}

Result<std::unique_ptr<RowSource>> open_blocks(const TensorFile& file, const StoredMatrix& stored) {
  TOK_TRY(const std::span<const std::byte> bytes, file.data(*stored.weight));
  return std::make_unique<BlockRows>(stored.dtype, stored.columns, bytes);
}

}  // namespace tokamak
