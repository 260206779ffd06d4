#include "kernels/cpu/panels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {
namespace {

PanelScale scale_kind(ScaleType type) {
  switch (type) {
    case ScaleType::kF16:
      return PanelScale::kF16;
    case ScaleType::kBF16:
    case ScaleType::kE8M0:  // powers of two, of which bf16 has all
      return PanelScale::kBF16;
    case ScaleType::kF32:
    case ScaleType::kE4M3:
      return PanelScale::kF32;
    case ScaleType::kBytes:
      return PanelScale::kBytes;
    case ScaleType::kPairs4:
    case ScaleType::kPairs6:
      return PanelScale::kPairs;
  }
  return PanelScale::kF32;
}

uint32_t scale_bytes(PanelScale scale) {
  switch (scale) {
    case PanelScale::kF16:
    case PanelScale::kBF16:
      return 2;
    case PanelScale::kF32:
      return 4;
    default:
      return 1;
  }
}

PanelCode code_of(const WeightFormat& format) {
  if (format.code == Code::kE4M3) return PanelCode::kFloats;
  if (format.code == Code::kInteger) return PanelCode::kInteger;
  return format.levels->unit == 0 ? PanelCode::kFloats : PanelCode::kLevels;
}

uint16_t e8m0_to_bf16(uint8_t e) {
  if (e == 255) return 0x7fc0;
  return e == 0 ? uint16_t{0x0040} : uint16_t(uint32_t{e} << 7);
}

/// The place of a four of a block: a byte among those of row 0, and a shift.
struct Place {
  uint32_t byte, shift;
};
constexpr Place place(uint32_t bits, uint32_t four) {
  switch (bits) {
    case 8:
      return {four * kFourBytes, 0};
    case 4:
      return {four % 4 * kFourBytes, four / 4 * 4};
    case 2:
      return {four / 4 * kFourBytes, four % 4 * 2};
    default:
      return {0, four};
  }
}

/// Four neighbouring q of kBits bits, the `four`-th of a block, each in a byte of its own. `block`
/// is where the bits of the block begin in the row.
template <uint32_t kBits>
uint32_t four_at(const std::byte* block, uint32_t four) {
  uint32_t q = 0;
  if constexpr (kBits == 8) {
    std::memcpy(&q, block + 4 * four, 4);
    return q;
  } else if constexpr (kBits == 4) {
    uint16_t pairs = 0;
    std::memcpy(&pairs, block + 2 * four, 2);
    q = (pairs | uint32_t{pairs} << 8) & 0x00ff00ffu;
    return (q | q << 4) & 0x0f0f0f0fu;
  } else if constexpr (kBits == 2) {
    q = uint32_t(block[four]);
    q = (q | q << 12) & 0x000f000fu;
    return (q | q << 6) & 0x03030303u;
  } else {
    q = uint32_t(block[four / 2]) >> four % 2 * 4 & 15;
    return (q * 0x00204081u) & 0x01010101u;
  }
}

/// Writes kBits bits of every q that a row has in a block of `fours` fours.
template <uint32_t kBits>
void pack_block(const std::byte* from, uint32_t fours, uint32_t flip, uint32_t row, std::byte* to) {
  uint32_t all[kBits] = {};  // of each 64 bytes of the block
  for (uint32_t four = 0; four < fours; ++four) {
    const Place at = place(kBits, four);
    all[at.byte / kFourBytes] |= (four_at<kBits>(from, four) ^ flip) << at.shift;
  }
  for (uint32_t i = 0; i < kBits; ++i) std::memcpy(to + i * kFourBytes + 4 * row, &all[i], 4);
}

/// The same of a panel, whose rows begin at `rows`.
template <uint32_t kBits>
void pack_rows(const PanelLayout& layout, std::span<const std::byte* const> rows, uint32_t flip,
               std::byte* first_block) {
  // Some blocks of a row at once: rows that are a power of two apart share few places of a cache.
  constexpr size_t kAtOnce = 8;
  const size_t whole = layout.columns / kBlockColumns;
  for (size_t some = 0; some < layout.blocks; some += kAtOnce) {
    for (uint32_t r = 0; r < rows.size(); ++r) {
      for (size_t b = some; b < std::min(some + kAtOnce, layout.blocks); ++b) {
        const std::byte* from = rows[r] + b * kBlockColumns * kBits / 8;
        std::byte* to = first_block + b * layout.block_bytes;
        if (b < whole) {
          pack_block<kBits>(from, kBlockColumns / 4, flip, r, to);
        } else {
          pack_block<kBits>(from, uint32_t(layout.columns % kBlockColumns / 4), flip, r, to);
        }
      }
    }
  }
}

void pack_rows(uint32_t bits, const PanelLayout& layout, std::span<const std::byte* const> rows,
               uint32_t flip, std::byte* first_block) {
  switch (bits) {
    case 8:
      return pack_rows<8>(layout, rows, flip, first_block);
    case 4:
      return pack_rows<4>(layout, rows, flip, first_block);
    case 2:
      return pack_rows<2>(layout, rows, flip, first_block);
    default:
      return pack_rows<1>(layout, rows, flip, first_block);
  }
}

/// Writes the scales of one row, whose streams begin at these places.
class RowScales {
 public:
  RowScales(const PanelLayout& layout, const std::byte* scales, const std::byte* zeros,
            std::byte* panel, uint32_t row)
      : layout_(layout), scales_(scales), zeros_(zeros), panel_(panel), row_(row) {}

  void write() const {
    const WeightFormat& format = *layout_.format;
    const size_t groups = layout_.columns / format.group;
    for (size_t g = 0; g < groups; ++g) group(g);
    if (layout_.has_zeros) {
      for (size_t g = 0; g < groups; ++g) put(layout_.zeros, g, uint8_t(zeros_[g]));
    }
    for (size_t s = 0; s < layout_.columns / 256; ++s) {
      if (layout_.scale == PanelScale::kBytes) copy(layout_.supers, s, zeros_ + 2 * s, 2);
      if (layout_.scale != PanelScale::kPairs) continue;
      copy(layout_.supers, s, block(s), 2);
      copy(layout_.super_offsets, s, block(s) + 2, 2);
    }
  }

 private:
  void copy(size_t part, size_t i, const std::byte* from, size_t bytes) const {
    std::memcpy(panel_ + part + (i * kPanelRows + row_) * bytes, from, bytes);
  }
  template <typename T>
  void put(size_t part, size_t i, T value) const {
    std::memcpy(panel_ + part + (i * kPanelRows + row_) * sizeof(T), &value, sizeof(T));
  }
  const std::byte* block(size_t s) const {
    return scales_ + s * (layout_.format->scale == ScaleType::kPairs4 ? 20 : 16);
  }

  void group(size_t g) const {
    const WeightFormat& format = *layout_.format;
    const auto byte = [&](const std::byte* at, size_t i) { return uint32_t(at[i]); };
    switch (format.scale) {
      case ScaleType::kE8M0:
        return put(layout_.scales, g, e8m0_to_bf16(uint8_t(scales_[g])));
      case ScaleType::kE4M3:
        return put(layout_.scales, g,
                   e4m3_to_f32(uint8_t(scales_[g])) * number_at(DType::kF32, zeros_));
      case ScaleType::kBytes:
        return put(layout_.scales, g, uint8_t(scales_[g]));
      case ScaleType::kPairs4: {
        const uint32_t pair = byte(block(g / 16) + 4, g % 16);
        put(layout_.scales, g, uint8_t(pair & 15));
        return put(layout_.offsets, g, uint8_t(pair >> 4));
      }
      case ScaleType::kPairs6: {
        const SuperPair pair = super_pair(block(g / 8) + 4, uint32_t(g % 8));
        put(layout_.scales, g, uint8_t(pair.scale));
        return put(layout_.offsets, g, uint8_t(pair.offset));
      }
      default: {
        const size_t each = scale_bytes(layout_.scale);
        const bool stored = format.offset == Offset::kStored;
        copy(layout_.scales, g, scales_ + (stored ? 2 * g : g) * each, each);
        if (stored) copy(layout_.offsets, g, scales_ + (2 * g + 1) * each, each);
      }
    }
  }

  const PanelLayout& layout_;
  const std::byte *scales_, *zeros_;
  std::byte* panel_;
  uint32_t row_;
};

/// The same read back: s and o of a group of a row.
struct Affine {
  float scale, offset;
};
Affine affine_at(const PanelLayout& layout, const std::byte* panel, size_t g, uint32_t row) {
  const size_t at = g * kPanelRows + row;
  const auto byte = [&](size_t part) { return uint8_t(panel[part + at]); };
  const auto super = [&](size_t part) {
    const size_t i = g * layout.group / 256 * kPanelRows + row;
    return number_at(DType::kF16, panel + part + 2 * i);
  };
  if (layout.scale == PanelScale::kBytes) {
    return {super(layout.supers) * float(int8_t(byte(layout.scales))), 0};
  }
  if (layout.scale == PanelScale::kPairs) {
    return {super(layout.supers) * float(byte(layout.scales)),
            -(super(layout.super_offsets) * float(byte(layout.offsets)))};
  }
  const DType dtype = layout.scale == PanelScale::kF16    ? DType::kF16
                      : layout.scale == PanelScale::kBF16 ? DType::kBF16
                                                          : DType::kF32;
  const auto number = [&](size_t part) {
    return number_at(dtype, panel + part + at * dtype_bytes(dtype));
  };
  return {number(layout.scales), layout.has_offsets ? number(layout.offsets) : 0.0f};
}

}  // namespace

PanelLayout::PanelLayout(DType type, uint64_t row_count, uint64_t column_count, bool exact)
    : dtype(type),
      rows(size_t(row_count)),
      columns(size_t(column_count)),
      is_exact(exact),
      format(&weight_format(type)) {
  low_bits = format->low_bits();
  high_bits = format->high_bits();
  group = format->group;
  TOK_CHECK(std::has_single_bit(group));
  if (group > kBlockColumns) group_blocks = uint32_t(std::countr_zero(group / kBlockColumns));
  scale = scale_kind(format->scale);
  code = code_of(*format);
  if (code == PanelCode::kInteger && format->offset == Offset::kMiddle) {
    middle = 1u << (format->bits - 1);
  }
  if (format->offset == Offset::kNextZero) middle = 1;
  has_offsets = format->offset == Offset::kStored;
  has_zeros = format->has_zeros();
  blocks = ceil_div(columns, size_t{kBlockColumns});
  groups = ceil_div(blocks * kBlockColumns, size_t{group});
  const auto part = [&](size_t& begin, size_t bytes) {
    begin = panel_bytes;
    panel_bytes += round_up<size_t>(bytes, kFourBytes);
  };
  const size_t each = groups * kPanelRows * scale_bytes(scale);
  const size_t super = columns / 256 * kPanelRows * 2;
  part(scales, each);
  part(offsets, has_offsets ? each : 0);
  part(supers, scale >= PanelScale::kBytes ? super : 0);
  part(super_offsets, scale == PanelScale::kPairs ? super : 0);
  part(zeros, has_zeros ? groups * kPanelRows : 0);
  block_bytes = size_t{kFourBytes} * (low_bits + high_bits);
  part(first_block, blocks * block_bytes);
}

void pack_panels(const PanelLayout& layout, std::span<const std::byte> streams, size_t first,
                 size_t last, std::byte* to) {
  const WeightFormat& format = *layout.format;
  const auto offsets = stream_offsets(format, layout.rows, layout.columns);
  TOK_CHECK(streams.size() >= offsets.back());
  const uint32_t flip = format.bits == 8 && layout.middle == 128 ? 0x80808080u : 0;
  for (size_t p = first; p < last; ++p) {
    std::byte* panel = to + (p - first) * layout.panel_bytes;
    std::memset(panel, 0, size_t(layout.first_block));
    std::vector<const std::byte*> low, high;
    for (size_t row = p * kPanelRows; row < std::min((p + 1) * kPanelRows, layout.rows); ++row) {
      const auto stream = [&](Stream s) {
        return streams.data() + offsets[size_t(s)] +
               row * stream_row_bytes(format, s, layout.columns);
      };
      RowScales(layout, stream(Stream::kScales), stream(Stream::kZeros), panel,
                uint32_t(row % kPanelRows))
          .write();
      low.push_back(stream(Stream::kLow));
      high.push_back(stream(Stream::kHigh));
    }
    std::byte* blocks = panel + layout.first_block;
    if (low.size() < kPanelRows) std::memset(blocks, 0, size_t(layout.blocks * layout.block_bytes));
    pack_rows(layout.low_bits, layout, low, flip, blocks);
    if (layout.high_bits == 0) continue;
    pack_rows(layout.high_bits, layout, high, 0, blocks + kFourBytes * layout.low_bits);
  }
}

float panel_value(const PanelLayout& layout, uint32_t q) {
  const WeightFormat& format = *layout.format;
  if (format.code == Code::kE4M3) return e4m3_to_f32(uint8_t(q));
  if (format.code == Code::kLevels) return format.levels->at(q);
  return float(q) - float(layout.middle);
}

void unpack_panel_row(const PanelLayout& layout, const std::byte* panels, size_t row,
                      std::span<float> out) {
  TOK_CHECK(row < layout.rows && out.size() == layout.columns);
  const std::byte* panel = panels + row / kPanelRows * layout.panel_bytes;
  const uint32_t in_panel = uint32_t(row % kPanelRows);
  const auto q_at = [&](size_t c) {
    const std::byte* block = panel + layout.first_block + c / kBlockColumns * layout.block_bytes;
    const auto bits_at = [&](const std::byte* part, uint32_t bits) {
      const Place at = place(bits, uint32_t(c % kBlockColumns / 4));
      return (uint32_t(part[at.byte + 4 * in_panel + c % 4]) >> at.shift) & ((1u << bits) - 1);
    };
    const uint32_t low = bits_at(block, layout.low_bits);
    if (layout.high_bits == 0) return low;
    return low | bits_at(block + kFourBytes * layout.low_bits, layout.high_bits) << layout.low_bits;
  };
  for (size_t first = 0; first < out.size(); first += layout.group) {
    const size_t g = first / layout.group;
    const Affine affine = affine_at(layout, panel, g, in_panel);
    const float zero =
        layout.has_zeros ? float(uint8_t(panel[layout.zeros + g * kPanelRows + in_panel])) : 0.0f;
    for (size_t c = first; c < first + layout.group; ++c) {
      out[c] = affine.scale * (panel_value(layout, q_at(c)) - zero);
      if (layout.has_offsets) out[c] += affine.offset;
    }
  }
}

}  // namespace tokamak
