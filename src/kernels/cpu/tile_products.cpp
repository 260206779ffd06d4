// Products of many rows by tiles: both sides are rounded to bf16, sums are f32.
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bits.h"
#include "kernels/cpu/panel_task.h"
#include "kernels/cpu/tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tile_products.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/panel_affine.h"
#include "kernels/cpu/panel_bytes.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

using U = hn::Vec<Unsigned>;

/// Bits of f32 that end with those of a bf16, the nearest; a half goes up.
HWY_INLINE U rounded(F v) {
  return hn::Add(hn::BitCast(Unsigned(), v), hn::Set(Unsigned(), 0x8000));
}

/// A pair of bf16 of each lane.
HWY_INLINE U pair_of(F even, F odd) {
  return hn::Or(hn::ShiftRight<16>(rounded(even)),
                hn::And(rounded(odd), hn::Set(Unsigned(), 0xffff0000)));
}

/// Columns of four g of a block as pairs, from row `lane` on.
template <int kLow, int kHigh, bool kLevels, size_t g, size_t kEnd>
HWY_INLINE void decode_pairs(const uint8_t* block, size_t lane, hn::Vec<Bytes> table,
                             const Affine& a, uint16_t* tile) {
  if constexpr (g < kEnd) {
    const Unsigned u;
    const auto bytes = hn::BitCast(u, four<kLow, kHigh, kLevels, g>(block, lane, table));
    const auto number = [&](U byte) HWY_ATTR {
      return hn::MulAdd(hn::ConvertTo(Floats(), hn::BitCast(Ints(), byte)), a.scale, a.offset);
    };
    const U mask = hn::Set(u, 0xff);
    const U first =
        pair_of(number(hn::And(bytes, mask)), number(hn::And(hn::ShiftRight<8>(bytes), mask)));
    const U second = pair_of(number(hn::And(hn::ShiftRight<16>(bytes), mask)),
                             number(hn::ShiftRight<24>(bytes)));
    auto* to = reinterpret_cast<uint32_t*>(tile) + 2 * g * kTileRows + lane;
    hn::StoreU(first, u, to);
    hn::StoreU(second, u, to + kTileRows);
    decode_pairs<kLow, kHigh, kLevels, g + 1, kEnd>(block, lane, table, a, tile);
  }
}

/// Blocks [first, first + count) of a panel as tiles.
template <int kLow, int kHigh, bool kLevels>
void decode_panel(const PanelLayout& l, const std::byte* panel, size_t first, size_t count,
                  uint16_t* tiles) {
  const LevelBytes levels(l);
  const auto table = hn::LoadDup128(Bytes(), levels.table);
  const bool halves = l.group < kBlockColumns;
  for (size_t b = first; b < first + count; ++b, tiles += kTileSize) {
    const auto* block = reinterpret_cast<const uint8_t*>(panel + l.first_block) + b * l.block_bytes;
    for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
      const size_t group = halves ? 2 * b : l.group_of(b);
      Affine a = affine_of(l, levels, panel, group, lane);
      decode_pairs<kLow, kHigh, kLevels, 0, 4>(block, lane, table, a, tiles);
      if (halves) a = affine_of(l, levels, panel, group + 1, lane);
      decode_pairs<kLow, kHigh, kLevels, 4, 8>(block, lane, table, a, tiles);
    }
  }
}

void decode(const PanelLayout& l, const std::byte* panel, size_t first, size_t count,
            uint16_t* tiles) {
  with_format(l, [&]<int kLow, int kHigh, bool kLevels>() HWY_ATTR {
    decode_panel<kLow, kHigh, kLevels>(l, panel, first, count, tiles);
  });
}

/// A row of x as bf16, 32 columns in each tile; what is no number stays none.
void round_row(const float* x, size_t columns, uint16_t* tiles) {
  const Unsigned u;
  const Floats f;
  const hn::Rebind<uint16_t, Floats> halves;
  alignas(64) float last[kTileColumns] = {};
  for (size_t begin = 0; begin < columns; begin += kTileColumns, tiles += kTileSize) {
    const float* from = x + begin;
    if (columns - begin < kTileColumns) {
      std::memcpy(last, from, (columns - begin) * sizeof(float));
      from = last;
    }
    for (size_t c = 0; c < kTileColumns; c += kLanes) {
      const F v = hn::LoadU(f, from + c);
      const auto none = hn::MaskFromVec(hn::BitCast(u, hn::VecFromMask(f, hn::IsNaN(v))));
      const U bits = hn::IfThenElse(none, hn::Set(u, 0x7fc00000), rounded(v));
      hn::StoreU(hn::DemoteTo(halves, hn::BitCast(Ints(), hn::ShiftRight<16>(bits))), halves,
                 tiles + c);
    }
  }
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(decode);
HWY_EXPORT(round_row);

namespace {

/// Panels that a piece of work decodes at once, columns of them, and rows of x that they meet: what
/// the second level of a cache has room for, with the sums.
constexpr size_t kMaxPanels = 16, kColumnsAtOnce = 512, kMaxRows = 512;
constexpr size_t kRowPair = 2 * kTileRows, kSums = kTileRows * kTileRows;

/// Memory of a thread that grows and is kept.
template <typename T>
class Kept {
 public:
  T* at_least(size_t size) {
    if (size > size_) {
      memory_ = hwy::AllocateAligned<T>(size);
      size_ = size;
    }
    return memory_.get();
  }

 private:
  hwy::AlignedFreeUniquePtr<T[]> memory_;
  size_t size_ = 0;
};

/// A part whose rows of x are tiles, two rows of which are side by side.
struct TilePart {
  const PartProduct& part;
  size_t rows;        // of x
  const uint16_t* x;  // [row pairs][2][blocks][tile]
};

/// One product by tiles.
class TileProduct {
 public:
  TileProduct(const TileUnit& unit, std::span<const float> x, const CpuTensor& w, const float* bias)
      : unit_(unit),
        x_(x),
        w_(w),
        bias_(bias),
        blocks_(ceil_div(size_t{w.dims[1]}, kTileColumns)) {}

  size_t blocks() const { return blocks_; }

  /// Writes rows [32 i, 32 i + 32) of a part as two rows of tiles.
  void round(const PartProduct& part, size_t rows, size_t i, uint16_t* to) const {
    const size_t columns = w_.dims[1];
    for (size_t r = 0; r < kRowPair; ++r) {
      uint16_t* tiles = to + r / kTileRows * blocks_ * kTileSize + r % kTileRows * kTileColumns;
      const size_t row = i * kRowPair + r;
      if (row < rows) {
        HWY_DYNAMIC_DISPATCH(round_row)(x_.data() + part.x_row(row) * columns, columns, tiles);
        continue;
      }
      for (size_t b = 0; b < blocks_; ++b) std::fill_n(tiles + b * kTileSize, kTileColumns, 0);
    }
  }

  /// Panels [first, first + count) of a part by all its rows.
  void multiply(const TilePart& own, size_t first, size_t count) const {
    static thread_local Kept<uint16_t> weights;
    static thread_local Kept<float> memory;
    const size_t pairs = ceil_div(own.rows, kRowPair), wide = ceil_div(count, size_t{2});
    const size_t step = kColumnsAtOnce / kTileColumns;
    uint16_t* w = weights.at_least(2 * wide * step * kTileSize);
    const size_t most = std::min(pairs, kMaxRows / kRowPair);
    float* sums = memory.at_least(most * wide * 4 * kSums);
    unit_.begin();
    for (size_t begin = 0; begin < pairs; begin += most) {
      const size_t end = std::min(pairs, begin + most);
      for (size_t block = 0; block < blocks_; block += step) {
        const size_t n = std::min(blocks_ - block, step);
        for (size_t p = 0; p < 2 * wide; ++p) {
          uint16_t* to = w + p * n * kTileSize;
          p < count ? decode_part(first_panel(own.part) + first + p, block, n, to)
                    : void(std::fill_n(to, n * kTileSize, 0));
        }
        for (size_t i = begin; i < end; ++i) {
          for (size_t j = 0; j < wide; ++j) {
            unit_.multiply(own.x + (i * 2 * blocks_ + block) * kTileSize, blocks_ * kTileSize,
                           w + 2 * j * n * kTileSize, n * kTileSize, n, block != 0,
                           sums + ((i - begin) * wide + j) * 4 * kSums);
          }
        }
      }
      for (size_t i = begin * kRowPair; i < std::min(own.rows, end * kRowPair); ++i) {
        for (size_t p = 0; p < count; ++p) {
          const PanelPlace place{w_, bias_, own.part, first_panel(own.part) + first + p};
          const size_t at = i - begin * kRowPair;
          place.store(i, sums + (at / kRowPair * wide + p / 2) * 4 * kSums +
                             (at % kRowPair / kTileRows * 2 + p % 2) * kSums +
                             at % kTileRows * kTileRows);
        }
      }
    }
    unit_.end();
  }

 private:
  void decode_part(size_t panel, size_t block, size_t count, uint16_t* to) const {
    if (w_.panels != nullptr) {
      return HWY_DYNAMIC_DISPATCH(decode)(*w_.panels, w_.data + panel * w_.panels->panel_bytes,
                                          block, count, to);
    }
    const size_t columns = w_.dims[1], row_bytes = columns * sizeof(uint16_t);
    const std::byte* from = w_.data + panel * kPanelRows * row_bytes;
    const size_t rows = std::min(w_.dims[0] - panel * kPanelRows, size_t{kPanelRows});
    for (size_t b = block; b < block + count; ++b, to += kTileSize) {
      const size_t own = std::min(columns - b * kTileColumns, kTileColumns);
      const std::byte* tile = from + b * kTileColumns * sizeof(uint16_t);
      if (rows == kPanelRows && own == kTileColumns) {
        unit_.interleave(tile, row_bytes, to);
        continue;
      }
      uint16_t some[kTileSize] = {};
      for (size_t r = 0; r < rows; ++r) {
        std::memcpy(some + r * kTileColumns, tile + r * row_bytes, own * sizeof(uint16_t));
      }
      unit_.interleave(reinterpret_cast<const std::byte*>(some), kTileColumns * sizeof(uint16_t),
                       to);
    }
  }

  const TileUnit& unit_;
  std::span<const float> x_;
  const CpuTensor& w_;
  const float* bias_;
  size_t blocks_;
};

/// How many panels a piece has: all threads have the same number of pieces, where there are enough.
size_t panels_of_piece(size_t panels, uint32_t threads) {
  const size_t rounds = ceil_div(panels, threads * kMaxPanels);
  const size_t own = ceil_div(panels, threads * rounds);
  return own + own % 2;
}

}  // namespace

void multiply_tiles(ThreadPool& pool, const TileUnit& unit, std::span<const float> x,
                    const CpuTensor& w, const float* bias, std::span<const PartProduct> parts) {
  const TileProduct product(unit, x, w, bias);
  static thread_local Kept<uint16_t> memory;
  std::vector<TilePart> own;
  std::vector<size_t> begins = {0};  // of each part, in pairs of rows of tiles
  size_t panels = 0;
  for (const PartProduct& part : parts) {
    own.push_back({part, part.rows(x.size() / w.dims[1]), nullptr});
    begins.push_back(begins.back() + ceil_div(own.back().rows, kRowPair));
    panels += panel_count(part);
  }
  const size_t pair_size = 2 * product.blocks() * kTileSize;
  uint16_t* tiles = memory.at_least(begins.back() * pair_size);
  pool.run(begins.back(), [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const size_t at = part_of(begins, i);
      product.round(own[at].part, own[at].rows, i - begins[at], tiles + i * pair_size);
    }
  });
  const size_t each = panels_of_piece(panels, pool.threads());
  std::vector<size_t> pieces = {0};
  for (size_t i = 0; i < own.size(); ++i) {
    own[i].x = tiles + begins[i] * pair_size;
    pieces.push_back(pieces.back() + ceil_div(panel_count(parts[i]), each));
  }
  pool.run(pieces.back(), [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const size_t at = part_of(pieces, i);
      const size_t begin = (i - pieces[at]) * each;
      product.multiply(own[at], begin, std::min(each, panel_count(parts[at]) - begin));
    }
  });
}

}  // namespace tokamak
#endif
