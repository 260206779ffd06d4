// How a quantised matrix lies in memory: a few packed layouts for every format there is.
//
// A weight is made from a small whole number q and the numbers of its group, `group` neighbours
// along a row. The buffer of a matrix is one stream after another; each stream holds its part of
// every row, row after row, and begins at a multiple of 16 bytes:
//   low     the low 4 bits of every q (8-bit formats: all 8), the first one lowest
//   high    the bits above those: 1 (5-bit formats) or 2 (6-bit) of each q
//   scales  what the groups say, see Scaling
//   zeros   kZero: 4 bits for each group; a row's last byte may be half empty
//           kSuper6: an f16 for each 256 weights
// So any number of whole rows can be cut out or put together, stream by stream. A file's blocks are
// taken apart into this at load, losslessly: what it is decoded to is exactly what the file means.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace tokamak {

/// How the numbers of a group turn q into a weight.
enum class Scaling : uint8_t {
  kSymmetric,  // s (q - 2^(bits-1)); 8-bit q are two's complement and s q. scales: s
  kOffset,     // s q + o. scales: pairs s, o (GGUF *_1, MLX affine)
  kZero,       // s (q - z - 1). scales: s; zeros: z (GPTQ)
  kSuper4,  // 256 weights share 16 bytes, those of GGUF's Q4_K: f16 d, f16 m, 12 bytes that hold 8
            // pairs of 6 bits (s, o): d s q - m o, for groups of 32
  kSuper6,  // d s (q - 32) for groups of 16. scales: i8 s; zeros: f16 d (GGUF's Q6_K)
};

struct Packing {
  std::string_view name;  // "q4_0", "affine4_g64_bf16"
  uint8_t bits = 0;       // 4, 5, 6 or 8
  uint16_t group = 0;     // divides the length of a row; super-block formats: see row_unit
  Scaling scaling = Scaling::kSymmetric;
  DType scale_dtype = DType::kF16;  // of s and o

  /// A row's length is a multiple of this.
  uint32_t row_unit() const {
    return scaling == Scaling::kSuper4 || scaling == Scaling::kSuper6 ? 256 : group;
  }
};

/// The layout of a packed type. REQUIRES: is_packed(dtype).
const Packing& packing(DType dtype);

/// The packed type of these properties; nothing when there is none.
std::optional<DType> packed_dtype(uint32_t bits, uint32_t group, Scaling scaling,
                                  DType scale_dtype);

enum class Stream : uint8_t { kLow, kHigh, kScales, kZeros };
inline constexpr std::array<Stream, 4> kStreams = {Stream::kLow, Stream::kHigh, Stream::kScales,
                                                   Stream::kZeros};

/// Bytes of one row of `columns` weights in a stream; 0 where the format has no such stream.
uint64_t stream_row_bytes(const Packing& packing, Stream stream, uint64_t columns);

/// The beginning of each stream of [rows, columns], and after the last one the length of all.
std::array<uint64_t, 5> stream_offsets(const Packing& packing, uint64_t rows, uint64_t columns);

/// Bytes of a matrix [rows, columns] of any type, packed or not.
uint64_t matrix_bytes(DType dtype, uint64_t rows, uint64_t columns);

/// The f32, f16 or bf16 at an address of no particular alignment.
float number_at(DType dtype, const std::byte* bytes);

/// A row of a packed matrix as f32: the reference of every kernel that reads such weights.
/// `out` has a row's length. REQUIRES: `bytes` are those of [rows, out.size()].
void unpack_row(DType dtype, std::span<const std::byte> bytes, uint64_t rows, uint64_t row,
                std::span<float> out);

}  // namespace tokamak
