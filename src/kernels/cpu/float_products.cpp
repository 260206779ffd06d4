// Products in floats: of matrices of floats, as they lie, of packed ones whose levels are no whole
// numbers, and of all packed ones where nothing is to be rounded.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/panel_task.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/float_products.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/panel_affine.h"
#include "kernels/cpu/panel_bytes.h"
#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

template <DType kType>
constexpr size_t kElementBytes = kType == DType::kF32 ? 4 : 2;

template <DType kType>
HWY_INLINE F load_weights(const std::byte* row, size_t c) {
  if constexpr (kType == DType::kF32) {
    return hn::LoadU(Floats(), reinterpret_cast<const float*>(row) + c);
  } else if constexpr (kType == DType::kF16) {
    return load_f16(row + 2 * c);
  } else {
    return load_bf16(row + 2 * c);
  }
}

/// Four rows of the matrix by one of x, as the matrix lies.
template <DType kType>
HWY_INLINE void four_dots(const std::byte* rows, size_t columns, const float* x, float* out) {
  const Floats f;
  const size_t row_bytes = columns * kElementBytes<kType>;
  F sums[4] = {hn::Zero(f), hn::Zero(f), hn::Zero(f), hn::Zero(f)};
  size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    const F own = hn::LoadU(f, x + c);
    for (size_t r = 0; r < 4; ++r) {
      const std::byte* row = rows + r * row_bytes;
      ask_for(row + 4 * row_bytes + c * kElementBytes<kType>);
      sums[r] = hn::MulAdd(load_weights<kType>(row, c), own, sums[r]);
    }
  }
  for (size_t r = 0; r < 4; ++r) out[r] = sum_of(sums[r]);
  for (; c < columns; ++c) {
    for (size_t r = 0; r < 4; ++r) {
      out[r] += x[c] * number_at(kType, rows + r * row_bytes + c * kElementBytes<kType>);
    }
  }
}

template <DType kType>
void float_rows(const PanelTask& task) {
  const size_t columns = task.x.columns, row_bytes = columns * kElementBytes<kType>;
  const std::byte* first = task.w.data + task.first_row() * row_bytes;
  alignas(64) float out[kPanelRows];
  for (size_t i = 0; i < task.x_rows(); ++i) {
    const float* x = task.x.x.data() + task.x_row(i) * columns;
    size_t r = 0;
    for (; r + 4 <= task.row_count(); r += 4) {
      four_dots<kType>(first + r * row_bytes, columns, x, out + r);
    }
    for (; r < task.row_count(); ++r) {
      double sum = 0;
      for (size_t c = 0; c < columns; ++c) {
        sum += x[c] * number_at(kType, first + r * row_bytes + c * kElementBytes<kType>);
      }
      out[r] = float(sum);
    }
    task.store(i, out);
  }
}

/// Decodes columns [first, first + count) of a panel of floats, [column][row].
template <DType kType>
void decode_floats(const PanelTask& task, size_t first, size_t count, float* to) {
  const size_t row_bytes = task.x.columns * kElementBytes<kType>;
  alignas(64) float row[kChunk + 16];
  for (size_t r = 0; r < kPanelRows; ++r) {
    if (r >= task.row_count()) {
      for (size_t c = 0; c < count; ++c) to[c * kPanelRows + r] = 0;
      continue;
    }
    const std::byte* from = task.w.data + (task.first_row() + r) * row_bytes;
    size_t c = 0;
    for (; c + kLanes <= count; c += kLanes) {
      hn::StoreU(load_weights<kType>(from, first + c), Floats(), row + c);
    }
    for (; c < count; ++c) row[c] = number_at(kType, from + (first + c) * kElementBytes<kType>);
    for (c = 0; c < count; ++c) to[c * kPanelRows + r] = row[c];
  }
}

/// The same of a packed type whose q stand for any floats.
template <int kLow>
void decode_numbers(const PanelTask& task, const float* numbers, size_t first, size_t count,
                    float* to) {
  const PanelLayout& l = *task.layout;
  const std::byte* panel = task.panel_data();
  const LevelBytes none(l);
  alignas(64) float scales[kPanelRows];
  for (size_t c = 0; c < count; ++c) {
    const size_t column = first + c, in_block = column % kBlockColumns, four = in_block / 4;
    if (column % l.group == 0 || c == 0) {
      for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
        hn::StoreU(affine_of(l, none, panel, column / l.group, lane).scale, Floats(),
                   scales + lane);
      }
    }
    const auto* block = reinterpret_cast<const uint8_t*>(panel + l.first_block +
                                                         column / kBlockColumns * l.block_bytes);
    const uint8_t* q = block + (kLow == 8 ? four : four % 4) * kFourBytes + in_block % 4;
    const uint32_t shift = kLow == 8 ? 0 : uint32_t(four / 4 * 4);
    for (size_t r = 0; r < kPanelRows; ++r) {
      to[c * kPanelRows + r] = scales[r] * numbers[(q[4 * r] >> shift) & ((1u << kLow) - 1)];
    }
  }
}

/// Fours [g, kEnd) of a block whose q are whole numbers, of the rows from `lane` on.
template <int kLow, int kHigh, bool kLevels, size_t g, size_t kEnd>
HWY_INLINE void decode_fours(const uint8_t* block, size_t lane, hn::Vec<Bytes> table,
                             hn::Vec<Ints> middle, const Affine& a, float* to) {
  if constexpr (g < kEnd) {
    const Ints i;
    const auto bytes = hn::BitCast(Unsigned(), four<kLow, kHigh, kLevels, g>(block, lane, table));
    const auto store = [&](hn::Vec<Unsigned> q, size_t column) HWY_ATTR {
      const auto byte = hn::BitCast(i, hn::And(q, hn::Set(Unsigned(), 0xff)));
      const F number = hn::ConvertTo(Floats(), hn::Sub(byte, middle));
      hn::StoreU(hn::MulAdd(number, a.scale, a.offset), Floats(), to + column * kPanelRows);
    };
    store(bytes, 4 * g);
    store(hn::ShiftRight<8>(bytes), 4 * g + 1);
    store(hn::ShiftRight<16>(bytes), 4 * g + 2);
    store(hn::ShiftRight<24>(bytes), 4 * g + 3);
    decode_fours<kLow, kHigh, kLevels, g + 1, kEnd>(block, lane, table, middle, a, to);
  }
}

/// The same as decode_floats(), of whole blocks. `first` begins one.
template <int kLow, int kHigh, bool kLevels>
void decode_whole(const PanelTask& task, size_t first, size_t count, float* to) {
  const PanelLayout& l = *task.layout;
  const std::byte* panel = task.panel_data();
  const LevelBytes levels(l);
  const auto table = hn::LoadDup128(Bytes(), levels.table);
  const bool halves = l.group < kBlockColumns;
  const size_t end = ceil_div(first + count, size_t{kBlockColumns});
  for (size_t b = first / kBlockColumns; b < end; ++b, to += kBlockColumns * kPanelRows) {
    const auto* block = reinterpret_cast<const uint8_t*>(panel + l.first_block) + b * l.block_bytes;
    for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
      const auto decode_half = [&]<size_t kHalf>() HWY_ATTR {
        const size_t group = halves ? 2 * b + kHalf : l.group_of(b);
        decode_fours<kLow, kHigh, kLevels, 4 * kHalf, 4 * kHalf + 4>(
            block, lane, table, middle_of(l, levels, panel, group, lane),
            stored_affine(l, levels, panel, group, lane), to + lane);
      };
      decode_half.template operator()<0>();
      decode_half.template operator()<1>();
    }
  }
}

template <size_t kRows>
HWY_NOINLINE void float_tile(const PanelTask& task, const float* w, size_t i, size_t first,
                             size_t count, float* sums) {
  constexpr size_t kVectors = kPanelRows / kLanes;
  const Floats f;
  const float* x[kRows];
  for (size_t m = 0; m < kRows; ++m) {
    x[m] = task.x.x.data() + task.x_row(i + m) * task.x.columns + first;
  }
  F total[kRows][kVectors];  // of these columns: long sums of f32 lose more than sums of sums
  for (auto& row : total) std::fill_n(row, kVectors, hn::Zero(f));
  for (size_t c = 0; c < count; ++c) {
    F own[kVectors];
    for (size_t v = 0; v < kVectors; ++v) own[v] = hn::LoadU(f, w + c * kPanelRows + v * kLanes);
    for (size_t m = 0; m < kRows; ++m) {
      const F all = hn::Set(f, x[m][c]);
      for (size_t v = 0; v < kVectors; ++v) total[m][v] = hn::MulAdd(all, own[v], total[m][v]);
    }
  }
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t v = 0; v < kVectors; ++v) {
      float* const sum = sums + m * kPanelRows + v * kLanes;
      hn::StoreU(hn::Add(total[m][v], hn::LoadU(f, sum)), f, sum);
    }
  }
}

constexpr size_t kFloatTileRows = kLanes == 16 ? 12 : kLanes == 8 ? 6 : 2;

template <typename Decode>
void float_panel(const PanelTask& task, const Decode& decode_part) {
  const size_t rows = task.x_rows(), columns = task.x.columns;
  alignas(64) float sums[kRowsAtOnce * kPanelRows];
  alignas(64) float decoded[kChunk * kPanelRows];
  for (size_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const size_t n = std::min(rows - begin, kRowsAtOnce);
    std::fill_n(sums, n * kPanelRows, 0.0f);
    for (size_t first = 0; first < columns; first += kChunk) {
      const size_t count = std::min(columns - first, kChunk);
      decode_part(first, count, decoded);
      size_t i = 0;
      for (; i + kFloatTileRows <= n; i += kFloatTileRows) {
        float_tile<kFloatTileRows>(task, decoded, begin + i, first, count, sums + i * kPanelRows);
      }
      for (; i + 2 <= n; i += 2) {
        float_tile<2>(task, decoded, begin + i, first, count, sums + i * kPanelRows);
      }
      if (i < n) float_tile<1>(task, decoded, begin + i, first, count, sums + i * kPanelRows);
    }
    for (size_t i = 0; i < n; ++i) task.store(begin + i, sums + i * kPanelRows);
  }
}

template <DType kType>
void plain_panel(const PanelTask& task) {
  constexpr size_t kFewRows = 4;
  if (task.x_rows() < kFewRows) return float_rows<kType>(task);
  float_panel(task, [&](size_t first, size_t count, float* to)
                        HWY_ATTR { decode_floats<kType>(task, first, count, to); });
}

void panel(const PanelTask& task, const float* numbers) {
  switch (task.w.dtype) {
    case DType::kF32:
      return plain_panel<DType::kF32>(task);
    case DType::kF16:
      return plain_panel<DType::kF16>(task);
    case DType::kBF16:
      return plain_panel<DType::kBF16>(task);
    default:
      break;
  }
  if constexpr (kHasManyKernels) {
    if (task.layout->code != PanelCode::kFloats) {
      return float_panel(task, [&](size_t first, size_t count, float* to) HWY_ATTR {
        with_format(*task.layout, [&]<int kLow, int kHigh, bool kLevels>() HWY_ATTR {
          decode_whole<kLow, kHigh, kLevels>(task, first, count, to);
        });
      });
    }
  }
  float_panel(task, [&](size_t first, size_t count, float* to) HWY_ATTR {
    task.layout->low_bits == 8 ? decode_numbers<8>(task, numbers, first, count, to)
                               : decode_numbers<4>(task, numbers, first, count, to);
  });
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(panel);

void multiply_floats(const PanelTask& task, std::span<const float> numbers) {
  HWY_DYNAMIC_DISPATCH(panel)(task, numbers.data());
}

std::string refuses_exact(const Problem& problem, const DeviceInfo&) {
  const bool takes = HWY_NAMESPACE::kHasManyKernels ||
                     std::ranges::none_of(problem.inputs, is_packed, &TensorDesc::dtype);
  return takes ? "" : "packed matrices are not multiplied as f32 in this build";
}

}  // namespace tokamak
#endif
