// Products of packed matrices whose levels are whole numbers: words of weights by words of x.
#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/panel_task.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/word_products.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/panel_affine.h"
#include "kernels/cpu/panel_bytes.h"
#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

/// A four's columns 0 and 2 of each row, and its columns 1 and 3.
HWY_INLINE hn::Vec<Words> even_columns(hn::Vec<Shorts> bytes) {
  return hn::BitCast(Words(), hn::And(bytes, hn::Set(Shorts(), 0x00ff)));
}
HWY_INLINE hn::Vec<Words> odd_columns(hn::Vec<Shorts> bytes) {
  return hn::BitCast(Words(), hn::ShiftRight<8>(bytes));
}

/// Sums of products of neighbouring words.
struct Sums {
  HWY_INLINE Sums() : first(hn::Zero(Ints())), second(hn::Zero(Ints())) {}
  hn::Vec<Ints> first, second;

  /// Two words of x meet those of every row.
  HWY_INLINE void add(hn::Vec<Words> w, const int16_t* x) {
#if HWY_TARGET == HWY_AVX3_DL
    // Multiplies and adds in one, and repeats the pair by itself. Highway 1.0.3 has no name for it
    // and does not let its intrinsic be used, hence the text.
    asm("vpdpwssd %2%{1to16%}, %1, %0"
        : "+v"(first.raw)
        : "v"(w.raw), "m"(*reinterpret_cast<const int32_t (*)[1]>(x)));
#else
    int32_t pair;
    std::memcpy(&pair, x, sizeof pair);
    const auto both = hn::BitCast(Words(), hn::Set(Ints(), pair));
    first = hn::ReorderWidenMulAccumulate(Ints(), w, both, first, second);
#endif
  }
  HWY_INLINE void add(const Sums& other) {
    first = hn::Add(first, other.first);
    second = hn::Add(second, other.second);
  }
  HWY_INLINE F value() const {
    return hn::ConvertTo(Floats(), hn::RearrangeToOddPlusEven(first, second));
  }
};

template <int kLow, int kHigh, bool kLevels, size_t g, size_t kEnd>
HWY_INLINE void add_fours(const uint8_t* block, size_t lane, hn::Vec<Bytes> table, const int16_t* x,
                          Sums& even, Sums& odd) {
  if constexpr (g < kEnd) {
    const auto bytes = four<kLow, kHigh, kLevels, g>(block, lane, table);
    even.add(even_columns(bytes), x + 4 * g);
    odd.add(odd_columns(bytes), x + 4 * g + 2);
    add_fours<kLow, kHigh, kLevels, g + 1, kEnd>(block, lane, table, x, even, odd);
  }
}

/// One row of x, at the speed of memory: each block is decoded in registers.
template <int kLow, int kHigh, bool kLevels, bool kHalves>
void one_row(const PanelTask& task, size_t i) {
  constexpr size_t kAhead = 4096;
  const Floats f;
  const PanelLayout& l = *task.layout;
  const LevelBytes levels(l);
  const auto table = hn::LoadDup128(Bytes(), levels.table);
  const size_t row = task.x_row(i), blocks = l.blocks;
  const int16_t* words = task.x.words.data() + row * blocks * kBlockColumns;
  const float* steps = task.x.steps.data() + row * blocks;
  const float* sums = task.x.sums.data() + row * blocks * 2;
  const std::byte* panel = task.panel_data();
  alignas(64) float out[kPanelRows];
  for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
    F total = hn::Zero(f);
    const auto* block = reinterpret_cast<const uint8_t*>(panel + l.first_block);
    for (size_t b = 0; b < blocks; ++b, block += l.block_bytes) {
      if (lane == 0) {
        for (size_t line = 0; line < 64 * (kLow + kHigh); line += 64) {
          hwy::Prefetch(block + kAhead + line);
        }
      }
      const int16_t* x = words + b * kBlockColumns;
      const F step = hn::Set(f, steps[b]);
      Sums even, odd;
      add_fours<kLow, kHigh, kLevels, 0, kHalves ? 4 : 8>(block, lane, table, x, even, odd);
      Affine a = affine_of(l, levels, panel, b * kBlockColumns / l.group, lane);
      even.add(odd);
      if constexpr (kHalves) {
        total = hn::MulAdd(hn::Set(f, sums[2 * b]), a.offset, total);
        total = hn::MulAdd(hn::Mul(even.value(), step), a.scale, total);
        even = odd = Sums();
        add_fours<kLow, kHigh, kLevels, 4, 8>(block, lane, table, x, even, odd);
        even.add(odd);
        a = affine_of(l, levels, panel, 2 * b + 1, lane);
        total = hn::MulAdd(hn::Set(f, sums[2 * b + 1]), a.offset, total);
      } else {
        total = hn::MulAdd(hn::Set(f, sums[2 * b] + sums[2 * b + 1]), a.offset, total);
      }
      total = hn::MulAdd(hn::Mul(even.value(), step), a.scale, total);
    }
    hn::StoreU(total, f, out + lane);
  }
  task.store(i, out);
}

/// Some blocks of a panel, decoded for many rows of x.
struct Decoded {
  alignas(
      64) int16_t words[kChunkBlocks * 8 * 2 * 2 * kPanelRows];  // [block][four][parity][row][2]
  alignas(64) float scales[2 * kChunkBlocks * kPanelRows], offsets[2 * kChunkBlocks * kPanelRows];
};

template <int kLow, int kHigh, bool kLevels, size_t g>
HWY_INLINE void decode_fours(const uint8_t* block, size_t lane, hn::Vec<Bytes> table, int16_t* to) {
  if constexpr (g < 8) {
    const auto bytes = four<kLow, kHigh, kLevels, g>(block, lane, table);
    int16_t* own = to + g * 4 * kPanelRows + 2 * lane;
    hn::StoreU(even_columns(bytes), Words(), own);
    hn::StoreU(odd_columns(bytes), Words(), own + 2 * kPanelRows);
    decode_fours<kLow, kHigh, kLevels, g + 1>(block, lane, table, to);
  }
}

template <int kLow, int kHigh, bool kLevels, bool kHalves>
void decode(const PanelTask& task, const LevelBytes& levels, size_t first, size_t count,
            Decoded& to) {
  const PanelLayout& l = *task.layout;
  const std::byte* panel = task.panel_data();
  const auto table = hn::LoadDup128(Bytes(), levels.table);
  for (size_t b = 0; b < count; ++b) {
    const auto* block =
        reinterpret_cast<const uint8_t*>(panel + l.first_block) + (first + b) * l.block_bytes;
    for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
      decode_fours<kLow, kHigh, kLevels, 0>(block, lane, table, to.words + b * 32 * kPanelRows);
      for (size_t half = 0; half < (kHalves ? 2 : 1); ++half) {
        const size_t group =
            kHalves ? 2 * (first + b) + half : (first + b) * kBlockColumns / l.group;
        const Affine a = affine_of(l, levels, panel, group, lane);
        const size_t at = ((kHalves ? 2 * b + half : b)) * kPanelRows + lane;
        hn::StoreU(a.scale, Floats(), to.scales + at);
        hn::StoreU(a.offset, Floats(), to.offsets + at);
      }
    }
  }
}

/// kRows rows of x by decoded blocks; their sums so far are in `sums`, [row][kPanelRows]. All
/// formats share it.
template <size_t kRows, bool kHalves>
HWY_NOINLINE void tile(const PanelTask& task, const Decoded& from, size_t i, size_t first,
                       size_t count, float* sums) {
  const Floats f;
  const size_t blocks = task.layout->blocks;
  const int16_t* x[kRows];
  const float *steps[kRows], *halves[kRows];
  for (size_t m = 0; m < kRows; ++m) {
    const size_t at = task.x_row(i + m) * blocks + first;
    x[m] = task.x.words.data() + at * kBlockColumns;
    steps[m] = task.x.steps.data() + at;
    halves[m] = task.x.sums.data() + 2 * at;
  }
  for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
    F total[kRows];
    for (size_t m = 0; m < kRows; ++m) total[m] = hn::LoadU(f, sums + m * kPanelRows + lane);
    for (size_t b = 0; b < count; ++b) {
      for (size_t half = 0; half < (kHalves ? 2 : 1); ++half) {
        constexpr size_t kFours = kHalves ? 4 : 8;
        Sums own[kRows];
        const int16_t* w = from.words + (b * 8 + half * kFours) * 4 * kPanelRows + 2 * lane;
#pragma GCC unroll 16
        for (size_t pair = 0; pair < 2 * kFours; ++pair) {
          const auto both = hn::LoadU(Words(), w + pair * 2 * kPanelRows);
          for (size_t m = 0; m < kRows; ++m) {
            own[m].add(both, x[m] + b * kBlockColumns + half * kHalf + 2 * pair);
          }
        }
        const size_t at = (kHalves ? 2 * b + half : b) * kPanelRows + lane;
        const F scale = hn::LoadU(f, from.scales + at), offset = hn::LoadU(f, from.offsets + at);
        for (size_t m = 0; m < kRows; ++m) {
          const float sum =
              kHalves ? halves[m][2 * b + half] : halves[m][2 * b] + halves[m][2 * b + 1];
          total[m] = hn::MulAdd(hn::Set(f, sum), offset, total[m]);
          total[m] = hn::MulAdd(hn::Mul(own[m].value(), hn::Set(f, steps[m][b])), scale, total[m]);
        }
      }
    }
    for (size_t m = 0; m < kRows; ++m) hn::StoreU(total[m], f, sums + m * kPanelRows + lane);
  }
}

/// Rows of x that share the registers of a tile.
constexpr size_t kTileRows = kLanes == 16 ? 8 : 4;

template <int kLow, int kHigh, bool kLevels, bool kHalves>
void many_rows(const PanelTask& task) {
  const LevelBytes levels(*task.layout);
  const size_t rows = task.x_rows(), blocks = task.layout->blocks;
  alignas(64) float sums[kRowsAtOnce * kPanelRows];
  Decoded decoded;
  for (size_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const size_t n = std::min(rows - begin, kRowsAtOnce);
    std::fill_n(sums, n * kPanelRows, 0.0f);
    for (size_t first = 0; first < blocks; first += kChunkBlocks) {
      const size_t count = std::min(blocks - first, kChunkBlocks);
      decode<kLow, kHigh, kLevels, kHalves>(task, levels, first, count, decoded);
      size_t i = 0;
      for (; i + kTileRows <= n; i += kTileRows) {
        tile<kTileRows, kHalves>(task, decoded, begin + i, first, count, sums + i * kPanelRows);
      }
      for (; i + 2 <= n; i += 2) {
        tile<2, kHalves>(task, decoded, begin + i, first, count, sums + i * kPanelRows);
      }
      if (i < n) tile<1, kHalves>(task, decoded, begin + i, first, count, sums + i * kPanelRows);
    }
    for (size_t i = 0; i < n; ++i) task.store(begin + i, sums + i * kPanelRows);
  }
}

template <int kLow, int kHigh, bool kLevels>
void word_panel(const PanelTask& task) {
  const bool halves = task.layout->group < kBlockColumns;
  if (task.x_rows() == 1) {
    halves ? one_row<kLow, kHigh, kLevels, true>(task, 0)
           : one_row<kLow, kHigh, kLevels, false>(task, 0);
  } else {
    halves ? many_rows<kLow, kHigh, kLevels, true>(task)
           : many_rows<kLow, kHigh, kLevels, false>(task);
  }
}

void packed_panel(const PanelTask& task) {
  with_format(*task.layout, [&]<int kLow, int kHigh, bool kLevels>()
                                HWY_ATTR { word_panel<kLow, kHigh, kLevels>(task); });
}

/// One block of x as words of a step.
void words_of_block(const float* x, size_t count, int16_t* words, float& step, float* sums) {
  constexpr float kMaxWord = 32767, kMinLargest = 1e-30f;
  const Floats f;
  alignas(64) float values[kBlockColumns] = {};
  std::memcpy(values, x, count * sizeof(float));
  F largest = hn::Zero(f), nothing = hn::Zero(f);
  for (size_t i = 0; i < kBlockColumns; i += kLanes) {
    const F v = hn::Load(f, values + i);
    largest = hn::Max(largest, hn::Abs(v));
    nothing = hn::MulAdd(v, hn::Zero(f), nothing);  // no number if any of them is infinite or none
  }
  const float most = hn::GetLane(hn::MaxOfLanes(f, largest)), finite = sum_of(nothing);
  alignas(64) int32_t whole[kBlockColumns] = {};
  step = most / kMaxWord;
  if (finite != 0) {
    step = std::numeric_limits<float>::quiet_NaN();
  } else if (most < kMinLargest) {
    step = 0;
  } else {
    const F inverse = hn::Set(f, kMaxWord / most);
    for (size_t i = 0; i < kBlockColumns; i += kLanes) {
      hn::Store(hn::NearestInt(hn::Mul(hn::Load(f, values + i), inverse)), Ints(), whole + i);
    }
  }
  for (size_t half = 0; half < 2; ++half) {
    int32_t sum = 0;
    for (size_t i = half * kHalf; i < (half + 1) * kHalf; ++i) sum += whole[i];
    sums[half] = float(sum) * step;
  }
  for (size_t i = 0; i < kBlockColumns; i += 4) {
    words[i] = int16_t(whole[i]);
    words[i + 1] = int16_t(whole[i + 2]);
    words[i + 2] = int16_t(whole[i + 1]);
    words[i + 3] = int16_t(whole[i + 3]);
  }
}

void fill(ThreadPool& pool, ProductInput& input) {
  const size_t blocks = input.steps.size() / input.rows;
  pool.run(input.rows, [&](size_t first, size_t last) HWY_ATTR {
    for (size_t at = first * blocks; at < last * blocks; ++at) {
      const size_t column = at % blocks * kBlockColumns;
      words_of_block(input.x.data() + at / blocks * input.columns + column,
                     std::min(input.columns - column, size_t{kBlockColumns}),
                     input.words.data() + at * kBlockColumns, input.steps[at],
                     input.sums.data() + 2 * at);
    }
  });
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(packed_panel);
HWY_EXPORT(fill);

void multiply_words(const PanelTask& task) {
  HWY_DYNAMIC_DISPATCH(packed_panel)(task);
}

void fill_words(ThreadPool& pool, ProductInput& input) {
  HWY_DYNAMIC_DISPATCH(fill)(pool, input);
}

}  // namespace tokamak
#endif
