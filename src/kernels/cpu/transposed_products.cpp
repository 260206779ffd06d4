#include "kernels/cpu/transposed_products.h"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/transposed_products.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/panel_affine.h"
#include "kernels/cpu/panel_bytes.h"
#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

/// Column c of a four in each row as a number, which `affine` makes a weight.
template <int kColumn>
HWY_INLINE void decode_column(hn::Vec<Shorts> bytes, const Affine& affine, float* to) {
  const auto all = hn::BitCast(Unsigned(), bytes);
  const auto q = hn::And(hn::ShiftRight<8 * kColumn>(all), hn::Set(Unsigned(), 0xff));
  const F number = hn::ConvertTo(Floats(), hn::BitCast(Ints(), q));
  hn::StoreU(hn::MulAdd(number, affine.scale, affine.offset), Floats(), to);
}

/// Fours [g, kEnd) of a block, rows from `lane` on; columns of the result are `stride` apart.
template <int kLow, int kHigh, bool kLevels, size_t g, size_t kEnd>
HWY_INLINE void decode_fours(const uint8_t* block, size_t lane, hn::Vec<Bytes> table,
                             const Affine& affine, size_t stride, float* to) {
  if constexpr (g < kEnd) {
    const auto bytes = four<kLow, kHigh, kLevels, g>(block, lane, table);
    float* const own = to + 4 * g * stride;
    decode_column<0>(bytes, affine, own);
    decode_column<1>(bytes, affine, own + stride);
    decode_column<2>(bytes, affine, own + 2 * stride);
    decode_column<3>(bytes, affine, own + 3 * stride);
    decode_fours<kLow, kHigh, kLevels, g + 1, kEnd>(block, lane, table, affine, stride, to);
  }
}

/// The rows of a part in whole panels.
struct Panels {
  size_t first, count;
};

/// Weights of a part, [column][row of its panels].
template <int kLow, int kHigh, bool kLevels>
void decode(const TransposedPart& part, const Panels& panels, float* to) {
  const PanelLayout& l = *part.layout;
  const LevelBytes levels(l);
  const auto table = hn::LoadDup128(Bytes(), levels.table);
  const size_t stride = panels.count * kPanelRows;
  const size_t first_block = part.first_column / kBlockColumns;
  for (size_t p = 0; p < panels.count; ++p) {
    const std::byte* panel = part.panels + (panels.first + p) * l.panel_bytes;
    for (size_t b = 0; b < ceil_div(part.columns, size_t{kBlockColumns}); ++b) {
      const size_t number = first_block + b, column = number * kBlockColumns;
      const auto* block =
          reinterpret_cast<const uint8_t*>(panel + l.first_block + number * l.block_bytes);
      for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
        float* const own = to + b * kBlockColumns * stride + p * kPanelRows + lane;
        const size_t groups = l.groups - 1;  // the last: columns that fill a block have none
        const Affine one = affine_of(l, levels, panel, std::min(column / l.group, groups), lane);
        decode_fours<kLow, kHigh, kLevels, 0, 4>(block, lane, table, one, stride, own);
        const Affine two =
            affine_of(l, levels, panel, std::min((column + 16) / l.group, groups), lane);
        decode_fours<kLow, kHigh, kLevels, 4, 8>(block, lane, table, two, stride, own);
      }
    }
  }
}

/// Four neighbouring columns by x, all of `count` rows.
HWY_INLINE void four_columns(const float* w, const float* x, size_t count, float* y) {
  const Floats f;
  F sums[4] = {hn::Zero(f), hn::Zero(f), hn::Zero(f), hn::Zero(f)};
  for (size_t r = 0; r < count; r += kLanes) {
    const F own = hn::LoadU(f, x + r);
    for (size_t c = 0; c < 4; ++c) {
      sums[c] = hn::MulAdd(hn::LoadU(f, w + c * count + r), own, sums[c]);
    }
  }
  for (size_t c = 0; c < 4; ++c) y[c] = sum_of(sums[c]);
}

void multiply_part(const TransposedPart& part) {
  const size_t first = part.first_row / kPanelRows;
  const Panels panels{first, ceil_div(part.first_row + part.rows, size_t{kPanelRows}) - first};
  const size_t rows = panels.count * kPanelRows;
  std::vector<float> weights(rows * round_up(part.columns, size_t{kBlockColumns}));
  with_format(*part.layout, [&]<int kLow, int kHigh, bool kLevels>() HWY_ATTR {
    decode<kLow, kHigh, kLevels>(part, panels, weights.data());
  });
  std::vector<float> x(rows);  // 0 for rows of the panels that are not the part's
  for (size_t t = 0; t < part.tokens; ++t) {
    std::copy_n(part.x + t * part.x_stride, part.rows,
                x.begin() + std::ptrdiff_t(part.first_row % kPanelRows));
    for (size_t c = 0; c < part.columns; c += 4) {
      four_columns(weights.data() + c * rows, x.data(), rows, part.y + t * part.y_stride + c);
    }
  }
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(multiply_part);

void multiply_transposed(const TransposedPart& part) {
  HWY_DYNAMIC_DISPATCH(multiply_part)(part);
}

}  // namespace tokamak
#endif
