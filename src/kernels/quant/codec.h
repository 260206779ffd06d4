// How the weights of one type become numbers inside a kernel: WGSL texts and constants.
//
// A kernel binds the matrix as `weight_words: array<WeightWord>`; the codec declares WeightWord and
//   load8(i: u32) -> Stored8                       elements 8 i .. 8 i + 7 of the row-major matrix
//   decode8(eight: Stored8) -> array<vec4<f32>, 2>
//   weights8(i: u32) -> array<vec4<f32>, 2>        both, where nothing happens in between
// or, from single_codec(), weight1(i: u32) -> f32, for rows of any length.
//
// Packed types (base/packing.h) have no file each: every property of their row brings a text.
//   the numbers q   bits2, bits4, bits8, bits_high: numbers8(quanta) -> array<vec4<u32>, 2>
//   what they mean  integers, floats8, floats4; or levels with level_bytes or level_floats:
//                   quants8(quanta), the same in f32
//   the scale       scales, scales_bytes, scales_e8m0, scales_e4m3: group_scale(group) -> f32
//   the offset      no_offset, symmetric, offset, zero; or both: super2, super4. affine(i), the s
//                   and o of eight weights, from which affine.wgsl makes w = s v(q) + o
// Their constants:
//   HIGH, SCALES, ZEROS   where these streams begin, in words
//   LOW_BITS, HIGH_BITS   bits_high: of each q in the two streams; FLIPPED_BITS: see bits8.wgsl
//   GROUP                 neighbours along a row that share their numbers
//   ROW_GROUPS            scales_e4m3: groups of a row
//   ZERO_POINT            symmetric: the q of 0; ZERO_SHIFT: zero, what is added to every z
//   LEVELS_0 .., LEVEL_0 ..   what the numbers stand for, as bytes or floats; LEVEL_UNIT
#pragma once
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {

struct WeightCodec {
  std::vector<std::string> sources;
  std::vector<Constant> constants;
};

/// Eight neighbouring weights per load. REQUIRES: [rows, columns] with columns a multiple of 8.
WeightCodec wide_codec(const TensorDesc& matrix);

/// For products in f16, on devices with that feature: the texts have, besides,
///   halves8(eight: Stored8, factor: f32) -> array<vec4<f16>, 2>     decode8() times a power of two
/// REQUIRES: as wide_codec().
WeightCodec halves_codec(const TensorDesc& matrix);

/// f16 weights loaded as such, for devices with the f16 feature. REQUIRES: as wide_codec(); f16.
WeightCodec native_f16_codec(const TensorDesc& matrix);

/// For matrix-vector products: what the lanes divide among themselves is a unit, as many
/// neighbouring weights of a row as one load brings. The texts declare Unit and load_unit(i) for
/// unit i of the matrix and unit_product(unit), its product with `own`, the same columns of x.
/// Units of floats (linear/staging/floats.wgsl) have record_unit(), too, called when `own` is new;
/// units of bytes (linear/staging/bytes.wgsl) fours_of(a, b), how eight x lie in two vectors.
struct UnitCodec : WeightCodec {
  uint32_t unit = 8;
  bool binds_twice = false;  // the matrix once more at WIDE_BINDING, as vectors of words
  bool in_bytes = false;
};

/// REQUIRES: as wide_codec().
UnitCodec unit_codec(const TensorDesc& matrix);
UnitCodec native_f16_units(const TensorDesc& matrix);
/// Eight weights a unit, whatever the type: binds the matrix once.
UnitCodec eight_units(const TensorDesc& matrix);
/// By dot products of bytes. REQUIRES: has_wide_units().
UnitCodec byte_units(const TensorDesc& matrix);
/// Whether the rows of the low stream are whole units of 16 bytes, q of 4 or 8 bits.
bool has_wide_units(const TensorDesc& matrix);

/// One weight per load. REQUIRES: not packed.
WeightCodec single_codec(const TensorDesc& matrix);

/// `launch` with the codec's constants, and its texts in front.
Launch with_codec(WeightCodec codec, Launch launch);

}  // namespace tokamak
