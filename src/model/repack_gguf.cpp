// GGUF's blocks. Layouts: ggml/src/ggml-common.h (block_q8_0 ... block_q6_K) and the order in which
// dequantize_row_* of ggml/src/ggml-quants.c goes through them.
#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "formats/gguf_types.h"
#include "model/gguf_blocks.h"
#include "model/number_rows.h"
#include "model/repack.h"

namespace tokamak {
namespace {

/// The beginnings of a block's fields.
struct Block {
  uint32_t weights, bytes;
  uint32_t scales, low, high;  // byte offsets; high: of the types that have a stream for it
  uint32_t scale_bytes;        // that stay together in the stream of scales
};

constexpr Block block_of(DType type) {
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

/// Memory is asked for this many bytes before it is needed: a processor does not see that far
/// through the arithmetic, and would wait for every line.
constexpr uint32_t kAhead = 1024;

constexpr uint32_t kSuperScale = 208;  // of kQ6_K: its f16

// Repacking is most of loading: nothing here goes through the numbers one by one.
static_assert(std::endian::native == std::endian::little);

uint64_t eight_bytes(const std::byte* from) {
  uint64_t eight = 0;
  std::memcpy(&eight, from, sizeof eight);
  return eight;
}

/// The low 2 bits of eight bytes side by side, the first one lowest.
uint16_t low_pairs(uint64_t bytes) {
  bytes &= 0x0303030303030303;
  bytes = (bytes | bytes >> 6) & 0x000f000f000f000f;
  bytes = (bytes | bytes >> 12) & 0x000000ff000000ff;
  return uint16_t(bytes | bytes >> 24);
}

/// The same of the lowest bit: the product moves that of byte i to bit 56 + i.
uint8_t low_bits(uint64_t bytes) {
  return uint8_t((bytes & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

/// The low 4 bits, of which the file has `kRun` in the low halves of as many bytes and the next in
/// the high halves: neighbours go side by side. In 16 bits, of which compilers make vectors.
template <uint32_t kRun>
void repack_nibbles(const std::byte* packed, uint32_t weights, std::byte* out) {
  std::array<uint16_t, kRun / 2> pairs;
  std::array<uint8_t, kRun> bytes;
  for (uint32_t at = 0; at < weights; at += 2 * kRun, packed += kRun, out += kRun) {
    std::memcpy(pairs.data(), packed, kRun);
    for (uint32_t i = 0; i < kRun / 2; ++i) {
      const uint16_t pair = pairs[i], upper = uint16_t(pair >> 4);
      bytes[i] = uint8_t((pair & 0x0f) | (upper & 0xf0));
      bytes[i + kRun / 2] = uint8_t((upper & 0x0f) | (pair >> 8 & 0xf0));
    }
    std::memcpy(out, bytes.data(), kRun);
  }
}

/// kQ5_K: bit k of byte i is of weight 32 k + i.
void repack_high_q5(const std::byte* packed, std::byte* out) {
  for (uint32_t i = 0; i < 32; i += 8) {
    const uint64_t eight = eight_bytes(packed + i);
    for (uint32_t k = 0; k < 8; ++k) out[(32 * k + i) / 8] = std::byte(low_bits(eight >> k));
  }
}

/// kQ6_K: in each half of 128, bits 2k and 2k+1 of byte i are of weight 32 k + i.
void repack_high_q6(const std::byte* packed, std::byte* out) {
  for (uint32_t half = 0; half < 2; ++half, packed += 32, out += 32) {
    for (uint32_t i = 0; i < 32; i += 8) {
      const uint64_t eight = eight_bytes(packed + i);
      for (uint32_t k = 0; k < 4; ++k) {
        const uint16_t pairs = low_pairs(eight >> (2 * k));
        std::memcpy(out + (32 * k + i) / 4, &pairs, sizeof pairs);
      }
    }
  }
}

template <DType kType>
void repack_low(const std::byte* block, std::byte* out) {
  constexpr Block b = block_of(kType);
  if constexpr (kType == DType::kQ8_0) {
    std::memcpy(out, block + b.low, b.weights);
  } else {
    // 4- and 5-bit blocks of 32 hold halves of 16, those of 256 runs of 32, kQ6_K runs of 64.
    constexpr uint32_t kRun = b.weights == 32 ? 16 : kType == DType::kQ6_K ? 64 : 32;
    repack_nibbles<kRun>(block + b.low, b.weights, out);
  }
}

template <DType kType>
void repack_high(const std::byte* block, std::byte* out) {
  constexpr Block b = block_of(kType);
  if constexpr (kType == DType::kQ5_K) {
    repack_high_q5(block + b.high, out);
  } else if constexpr (kType == DType::kQ6_K) {
    repack_high_q6(block + b.high, out);
  } else {
    std::memcpy(out, block + b.high, 4);  // bit i is of weight i already
  }
}

/// One stream of `count` blocks. The type is known to the compiler: lengths of copies are, too.
template <DType kType>
void repack(Stream stream, const std::byte* block, uint64_t count, std::byte* out) {
  constexpr Block b = block_of(kType);
  const uint64_t step = stream_row_bytes(weight_format(kType), stream, b.weights);
  const std::byte* end = block + count * b.bytes;
  switch (stream) {
    case Stream::kLow:
      for (; block != end; block += b.bytes, out += step) {
        __builtin_prefetch(block + kAhead);  // the other streams find it in the cache
        repack_low<kType>(block, out);
      }
      break;
    case Stream::kHigh:
      for (; block != end; block += b.bytes, out += step) repack_high<kType>(block, out);
      break;
    case Stream::kScales:
      for (; block != end; block += b.bytes, out += step) {
        std::memcpy(out, block + b.scales, b.scale_bytes);
      }
      break;
    case Stream::kZeros:
      for (; block != end; block += b.bytes, out += step) {
        std::memcpy(out, block + kSuperScale, 2);
      }
      break;
  }
}

auto repack_of(DType type) {
  switch (type) {
    case DType::kQ8_0:
      return repack<DType::kQ8_0>;
    case DType::kQ4_0:
      return repack<DType::kQ4_0>;
    case DType::kQ4_1:
      return repack<DType::kQ4_1>;
    case DType::kQ5_0:
      return repack<DType::kQ5_0>;
    case DType::kQ5_1:
      return repack<DType::kQ5_1>;
    case DType::kQ4_K:
      return repack<DType::kQ4_K>;
    case DType::kQ5_K:
      return repack<DType::kQ5_K>;
    default:
      break;
  }
  TOK_CHECK(type == DType::kQ6_K);
  return repack<DType::kQ6_K>;
}

/// One stream of `count` blocks, number by number.
void repack_numbers(DType type, const BlockReader& reader, Stream stream, const std::byte* blocks,
                    uint64_t count, std::byte* out) {
  const WeightFormat& format = weight_format(type);
  const GgufBlock block = gguf_block(type);
  const size_t step = size_t(stream_row_bytes(format, stream, block.weights));
  std::array<uint8_t, 256> q{};
  std::array<std::byte, 32> scales{}, zeros{};
  for (uint64_t i = 0; i < count; ++i, blocks += block.bytes, out += step) {
    if (stream == Stream::kLow || stream == Stream::kHigh) {
      reader.numbers(blocks, q.data());
      pack_numbers(format, stream, std::span(q).first(block.weights), out);
    } else {
      reader.factors(blocks, scales.data(), zeros.data());
      std::memcpy(out, stream == Stream::kScales ? scales.data() : zeros.data(), step);
    }
  }
}

class BlockRows final : public RowSource {
 public:
  /// `factor`: that of the whole matrix, of types which store one.
  BlockRows(DType type, uint64_t columns, TensorBytes bytes, float factor)
      : type_(type), columns_(columns), bytes_(std::move(bytes)), factor_(factor) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    if (stream == Stream::kZeros && weight_format(type_).scale == ScaleType::kE4M3) {
      for (uint64_t i = 0; i < count; ++i) std::memcpy(out + i * stride, &factor_, sizeof factor_);
      return {};
    }
    const uint64_t row = block_row_bytes(type_, columns_);
    TOK_TRY(const FileBytes rows, bytes_.view(first * row, count * row));
    for (uint64_t i = 0; i < count; ++i) {
      repack_block_row(type_, stream, rows.data() + i * row, columns_, out + i * stride);
    }
    return {};
  }

 private:
  DType type_;
  uint64_t columns_;
  TensorBytes bytes_;
  float factor_;
};

}  // namespace

uint64_t block_row_bytes(DType type, uint64_t columns) {
  const GgufBlock block = gguf_block(type);
  return columns / block.weights * block.bytes;
}

void repack_block_row(DType type, Stream stream, const std::byte* blocks, uint64_t columns,
                      std::byte* out) {
  const uint64_t count = columns / gguf_block(type).weights;
  if (const BlockReader* reader = block_reader(type)) {
    return repack_numbers(type, *reader, stream, blocks, count, out);
  }
  repack_of(type)(stream, blocks, count, out);
}

Result<std::unique_ptr<RowSource>> open_blocks(const TensorFile& file, const StoredMatrix& stored) {
  TOK_TRY(TensorBytes bytes, file.pieces(*stored.weight));
  TOK_TRY(const float factor, factor_of(file, stored));
  return std::make_unique<BlockRows>(stored.dtype, stored.columns, std::move(bytes), factor);
}

}  // namespace tokamak
