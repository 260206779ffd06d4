// How a quantised matrix lies in memory: rows of one table, WeightFormat, for every format there
// is. The reference, the texts of kernels/quant and what repacks files go by the row alone.
//
// A weight is w = s v(q) + o: q is a small whole number, v what it stands for, and s and o belong
// to its group, `group` neighbours along a row. The buffer of a matrix is one stream after another;
// each stream holds its part of every row, row after row, and begins at a multiple of 16 bytes:
//   low     the low bits of every q: 2 of those of 2 and 3 bits, 4 of those of 4 to 6, all 8; the
//           first one lowest
//   high    the bits above those: 1 or 2 of each q
//   scales  s, and o where that is stored: see ScaleType
//   zeros   Offset::kZero and kNextZero: a byte for each group
//           ScaleType::kBytes: an f16 for each 256 weights; kE4M3: an f32 for each row
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

/// The numbers a q stands for, by q. Entry i is values[i] * unit; where unit is 0, values[i], and
/// no two of them are multiples of one number.
struct Levels {
  std::array<float, 16> values = {};
  float unit = 1;  // a power of two; the values are whole numbers of a signed byte

  float at(uint32_t q) const { return unit == 0 ? values[q] : values[q] * unit; }
};

enum class Code : uint8_t {
  kInteger,  // v(q) = q
  kE4M3,     // v(q) = the f8e4m3 of these 8 bits
  kLevels,   // v(q) = levels->at(q)
};

/// How the scale of a group is stored.
enum class ScaleType : uint8_t {
  kF16,
  kBF16,
  kF32,
  kE8M0,    // a byte e: 2^(e - 127), no number where e is 255
  kE4M3,    // a byte, f8e4m3, times an f32 of the row: a factor of the whole tensor in files
  kBytes,   // a signed byte, times an f16 of 256 weights (GGUF's Q6_K)
  kPairs4,  // 256 weights share 20 bytes: f16 d, f16 m, 16 bytes of s (low nibble) and o:
            // d s, -m o (GGUF's Q2_K)
  kPairs6,  // 256 weights share 16 bytes: f16 d, f16 m, 12 bytes that hold 8 pairs of 6 bits, s and
            // o: d s, -m o (GGUF's Q4_K)
};

/// The meaning of o.
enum class Offset : uint8_t {
  kNone,
  kMiddle,    // -2^(bits-1) s; 8-bit q are two's complement
  kStored,    // beside s in the scales (GGUF *_1, MLX affine)
  kZero,      // -z s (AWQ, GPTQ's second format)
  kNextZero,  // -(z + 1) s (GPTQ's first format)
};

struct WeightFormat {
  std::string_view name;  // "q4_0", "affine4_g64_bf16"
  uint8_t bits = 0;       // 2 to 6, or 8
  uint16_t group = 0;     // a multiple of 8
  ScaleType scale = ScaleType::kF16;
  Offset offset = Offset::kMiddle;
  Code code = Code::kInteger;
  const Levels* levels = nullptr;  // Code::kLevels

  /// A row's length is a multiple of this.
  uint32_t row_unit() const { return scale >= ScaleType::kBytes ? 256 : group; }
  uint32_t low_bits() const { return bits < 4 ? 2 : bits < 8 ? 4 : 8; }
  uint32_t high_bits() const { return bits - low_bits(); }
  /// The type of stored scales. REQUIRES: kF16, kBF16 or kF32.
  DType scale_dtype() const;
  bool has_zeros() const { return offset == Offset::kZero || offset == Offset::kNextZero; }
};

/// GGUF's IQ4_NL and IQ4_XS; {-1, 0, 1, 2}; f4e2m1; QLoRA's NF4.
extern const Levels kIq4Levels, kTernaryLevels, kE2m1Levels, kNf4Levels;
/// GGUF's types with codebooks: the three or eight values of a row's digits, then the same of
/// weights whose sign (of IQ1: whose shift by 1/8) is negative.
extern const Levels kIq1Levels, kIq2Levels, kIq3XxsLevels, kIq3SLevels;

/// Every row, in the order of the packed types.
std::span<const WeightFormat> weight_formats();

/// Row `i` of weight_formats() as a type.
constexpr DType packed_type(size_t i) {
  return DType(kDTypeCount + i);
}

/// The row of a packed type. REQUIRES: is_packed(dtype).
const WeightFormat& weight_format(DType dtype);

/// The first packed type that has all these properties, whatever their name; nothing when there is
/// none.
std::optional<DType> packed_dtype(const WeightFormat& wanted);

/// kF16, kBF16 or kF32. REQUIRES: is_float_weight(dtype).
ScaleType scale_of(DType dtype);

enum class Stream : uint8_t { kLow, kHigh, kScales, kZeros };
inline constexpr std::array<Stream, 4> kStreams = {Stream::kLow, Stream::kHigh, Stream::kScales,
                                                   Stream::kZeros};

/// Bytes of one row of `columns` weights in a stream; 0 where the format has no such stream.
uint64_t stream_row_bytes(const WeightFormat& format, Stream stream, uint64_t columns);

/// The beginning of each stream of [rows, columns], and after the last one the length of all.
std::array<uint64_t, 5> stream_offsets(const WeightFormat& format, uint64_t rows, uint64_t columns);

/// Bytes of a matrix [rows, columns] of any type, packed or not.
uint64_t matrix_bytes(DType dtype, uint64_t rows, uint64_t columns);

/// The f32, f16 or bf16 at an address of no particular alignment.
float number_at(DType dtype, const std::byte* bytes);

/// The scale and the offset of a group of 32 weights in ScaleType::kPairs6.
struct SuperPair {
  uint32_t scale = 0, offset = 0;
};
/// Pair `group` of the 8 in 12 bytes. Layout: ggml's get_scale_min_k4.
SuperPair super_pair(const std::byte* pairs, uint32_t group);

/// The f8e4m3 of these bits: without infinities, 127 and 255 are no numbers.
float e4m3_to_f32(uint8_t bits);

/// A row of a packed matrix as f32: the reference of every kernel that reads such weights.
/// `out` has a row's length. REQUIRES: `bytes` are those of [rows, out.size()].
void unpack_row(DType dtype, std::span<const std::byte> bytes, uint64_t rows, uint64_t row,
                std::span<float> out);

}  // namespace tokamak
