// How processors hold a packed matrix (base/packing.h): panels of 16 rows, in which 4 neighbouring
// columns of each row are beside each other. Registers of 4, 8 or 16 rows read the same bytes, a
// lane is a row, and no sum goes across lanes. It is a permutation of the streams of its format;
// scales of two factors stay two factors, so that a panel has the bytes of its rows, or a few more.
//
// A panel is, one part after the other:
//   scales   [groups][16]: s as stored. Offset::kStored: after these [groups][16] of o
//   supers   [columns / 256][16] f16: the factor that the scales of 256 columns share; of pairs
//            after these the same of their offsets
//   zeros    [groups][16] bytes
//   blocks   of 32 columns, which are 8 fours: 64 low_bits bytes, and 64 high_bits. Byte 4 r + c
//            of 64 has column c of a four in row r:
//              low of 8 bits   64 bytes of each four
//              low of 4 bits   64 j: four j in the low halves of bytes, four 4 + j in the high ones
//              of 2 bits, low or high   64 j: fours 4 j to 4 j + 3, the first one lowest
//              high of 1 bit   all eight fours, the first one lowest
// Signed q of 8 bits have 128 added. Rows that fill the last panel and columns that fill the last
// block have s = o = 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/packing.h"

namespace tokamak {

inline constexpr uint32_t kPanelRows = 16, kBlockColumns = 32;
/// 16 rows of 4 columns of 8 bits.
inline constexpr uint32_t kFourBytes = 64;

enum class PanelScale : uint8_t {
  kF16,
  kBF16,
  kF32,
  kBytes,  // a signed byte times its super
  kPairs,  // bytes s and o, times its super and minus its second super
};

/// The meaning of a q.
enum class PanelCode : uint8_t {
  kInteger,  // q - middle
  kLevels,   // levels[q], whole numbers of `unit`
  kFloats,   // one of a few numbers that are no multiples of one
};

/// The parts of a panel, as numbers of bytes from its beginning, and what is in them.
struct PanelLayout {
  PanelLayout(DType dtype, uint64_t rows, uint64_t columns, bool is_exact = false);

  DType dtype;
  size_t rows, columns;
  uint32_t low_bits, high_bits;
  uint32_t group;             // columns that share a scale, a power of two
  uint32_t group_blocks = 0;  // of a group's blocks the logarithm; 0 where it is a part of one
  PanelScale scale;
  PanelCode code;
  uint32_t middle = 0;  // subtracted from every q
  bool has_offsets;     // o is stored
  bool has_zeros;       // z is subtracted from q, too
  bool is_exact;        // products take x in f32, whatever the code
  const WeightFormat* format;
  size_t blocks, groups;
  size_t scales = 0, offsets = 0, supers = 0, super_offsets = 0, zeros = 0, first_block = 0;
  size_t block_bytes = 0, panel_bytes = 0;

  size_t panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
  uint64_t bytes() const { return uint64_t{panels()} * panel_bytes; }
  /// The group of a block, where groups are no parts of one: a division would take as long as the
  /// block's products.
  size_t group_of(size_t block) const { return block >> group_blocks; }
};

/// Writes panels [first, last) of a matrix whose streams are at hand. `to` is the first panel.
void pack_panels(const PanelLayout& layout, std::span<const std::byte> streams, size_t first,
                 size_t last, std::byte* to);

/// A row as f32, equal to what unpack_row() of packing.h gives. `out` has a row's length.
void unpack_panel_row(const PanelLayout& layout, const std::byte* panels, size_t row,
                      std::span<float> out);

/// The numbers that the q of a format stand for before s, o and z: 256 at most.
float panel_value(const PanelLayout& layout, uint32_t q);

}  // namespace tokamak
