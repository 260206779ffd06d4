// Products of packed matrices whose levels are whole numbers: words of weights by words of x.
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

/// Makes a vector be in a register here. GCC sums in trees whose leaves spill, and loads bytes
/// again for every mask of them, unless it is told not to.
template <typename V>
HWY_INLINE void settle([[maybe_unused]] V& v) {
#if HWY_ARCH_X86
  asm("" : "+v"(v.raw));
#endif
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
    settle(first);
#endif
  }
  HWY_INLINE void add(const Sums& other) {
    first = hn::Add(first, other.first);
    second = hn::Add(second, other.second);
  }
  /// The sum of each row. Which parts of it are in `first` is the processor's matter.
  HWY_INLINE hn::Vec<Ints> whole() const { return hn::RearrangeToOddPlusEven(first, second); }
  HWY_INLINE F value() const { return hn::ConvertTo(Floats(), whole()); }
};

/// Registers of rows that share a pair of x: two where a panel's rows need more than one.
constexpr size_t kSets = kLanes == kPanelRows ? 1 : 2, kSetRows = kSets * kLanes;

/// Registers of a few rows of x and of all sets: n has row n / kSets and set n % kSets.
template <size_t kRows>
constexpr size_t kFew = kRows * kSets;

/// The products of fours [g, kEnd) of a block, of the rows from `lane` on. Pair p of row m of x is
/// at 2 (p kRows + m).
template <int kLow, int kHigh, bool kLevels, size_t kRows, size_t g, size_t kEnd>
HWY_INLINE void add_fours(const uint8_t* block, size_t lane, hn::Vec<Bytes> table, const int16_t* x,
                          Sums (&even)[kFew<kRows>], Sums (&odd)[kFew<kRows>]) {
  if constexpr (g < kEnd) {
    for (size_t s = 0; s < kSets; ++s) {
      const auto bytes = four<kLow, kHigh, kLevels, g>(block, lane + s * kLanes, table);
      const auto first = even_columns(bytes), second = odd_columns(bytes);
      for (size_t m = 0; m < kRows; ++m) {
        even[m * kSets + s].add(first, x + 2 * (2 * g * kRows + m));
        odd[m * kSets + s].add(second, x + 2 * ((2 * g + 1) * kRows + m));
      }
    }
    add_fours<kLow, kHigh, kLevels, kRows, g + 1, kEnd>(block, lane, table, x, even, odd);
  }
}

/// The same of a whole block of q of 4 bits. A word has four of them, which a mask or a shift each
/// takes out where it is: sums of products with 16 q and 256 q are whole and fit, and the sum of a
/// block is divided instead of its 32 q.
template <size_t kRows>
HWY_INLINE void dots_of_nibbles(const uint8_t* block, size_t lane, const int16_t* x,
                                hn::Vec<Ints> (&dots)[kFew<kRows>]) {
  const Words d;
  const auto lowest = hn::Set(d, 0x000f), second = hn::Set(d, 0x00f0), third = hn::Set(d, 0x0f00);
  Sums plain[kFew<kRows>], by_16[kFew<kRows>], by_256[kFew<kRows>];
#pragma GCC unroll 4
  for (size_t j = 0; j < 4; ++j) {
    const int16_t *low = x + 4 * j * kRows, *high = low + 16 * kRows;
#pragma GCC unroll 2
    for (size_t s = 0; s < kSets; ++s) {
      auto q = shorts_at(block + kFourBytes * j + 4 * (lane + s * kLanes));
      settle(q);
      const auto w = hn::BitCast(d, q);
      const auto w0 = hn::And(w, lowest), w1 = hn::And(w, second), w2 = hn::And(w, third);
      const auto w3 = hn::BitCast(d, hn::ShiftRight<12>(q));
#pragma GCC unroll 2
      for (size_t m = 0; m < kRows; ++m) {
        const size_t n = m * kSets + s;
        plain[n].add(w0, low + 2 * m);
        by_256[n].add(w2, low + 2 * (kRows + m));
        by_16[n].add(w1, high + 2 * m);
        plain[n].add(w3, high + 2 * (kRows + m));
      }
    }
  }
  for (size_t n = 0; n < kFew<kRows>; ++n) {
    dots[n] = hn::Add(plain[n].whole(), hn::Add(hn::ShiftRight<4>(by_16[n].whole()),
                                                hn::ShiftRight<8>(by_256[n].whole())));
  }
}

/// Part `kPart` of `kParts` of a block by x, of each row.
template <int kLow, int kHigh, bool kLevels, size_t kRows, size_t kPart, size_t kParts>
HWY_INLINE void dots_of(const uint8_t* block, size_t lane, hn::Vec<Bytes> table, const int16_t* x,
                        hn::Vec<Ints> (&dots)[kFew<kRows>]) {
  if constexpr (kLow == 4 && kHigh == 0 && !kLevels && kParts == 1) {
    dots_of_nibbles<kRows>(block, lane, x, dots);
  } else {
    constexpr size_t kFours = 8 / kParts;
    Sums even[kFew<kRows>], odd[kFew<kRows>];
    add_fours<kLow, kHigh, kLevels, kRows, kPart * kFours, (kPart + 1) * kFours>(block, lane, table,
                                                                                 x, even, odd);
    for (size_t n = 0; n < kFew<kRows>; ++n) dots[n] = hn::Add(even[n].whole(), odd[n].whole());
  }
}

/// Rows of x that share the registers of a product.
constexpr size_t kTileRows = kLanes == 16 ? 8 : 4;

/// The rows that row i of a part lies with: as many as possible of kTileRows, then of 2, then of 1.
/// Words of such a group are [block][pair of columns][row][2], steps [block][row] and sums
/// [block][scale][row], so that a product reads one number after the other.
struct WordGroup {
  WordGroup(size_t i, size_t rows) {
    const size_t whole = rows / kTileRows * kTileRows;
    if (i < whole) {
      first = i / kTileRows * kTileRows;
      count = kTileRows;
      return;
    }
    first = whole + (i - whole) / 2 * 2;
    count = std::min<size_t>(2, rows - first);
  }
  size_t first, count;
};

/// One group of one row of x or two, at the speed of memory: each block is decoded in registers.
template <int kLow, int kHigh, bool kLevels, bool kHalves, size_t kRows, Scales kScales>
void few_rows(const PanelTask& task) {
  constexpr size_t kAhead = 8192, kParts = kHalves ? 2 : 1;
  const Floats f;
  const PanelLayout& l = *task.layout;
  const LevelBytes levels(l);
  const auto table = hn::LoadDup128(Bytes(), levels.table);
  const size_t blocks = l.blocks;
  const int16_t* words = task.x.words.data() + task.word_row * blocks * kBlockColumns;
  const float* steps = task.x.steps.data() + task.word_row * blocks;
  const int32_t* sums = task.x.sums.data() + task.word_row * blocks * kParts;
  const std::byte* panel = task.panel_data();
  const bool has_offsets = kScales == Scales::kPairs || (kScales == Scales::kAny && l.has_offsets);
  const bool has_zeros = kScales == Scales::kAny && l.has_zeros;
  alignas(64) float out[kRows * kPanelRows];
  for (size_t lane = 0; lane < kPanelRows; lane += kSetRows) {
    F total[kFew<kRows>];
    for (F& one : total) one = hn::Zero(f);
    const auto* block = reinterpret_cast<const uint8_t*>(panel + l.first_block);
    for (size_t b = 0; b < blocks; ++b, block += size_t{kFourBytes} * (kLow + kHigh)) {
      if (lane == 0) {
        for (size_t line = 0; line < 64 * (kLow + kHigh); line += 64)
          ask_for(block + kAhead + line);
      }
      const auto add_part = [&]<size_t kPart>() HWY_ATTR {
        hn::Vec<Ints> dots[kFew<kRows>];
        dots_of<kLow, kHigh, kLevels, kRows, kPart, kParts>(
            block, lane, table, words + b * kRows * kBlockColumns, dots);
        const int32_t* sum = sums + (b * kParts + kPart) * kRows;
        const float* step = steps + b * kRows;
        const size_t own_group = kHalves ? 2 * b + kPart : l.group_of(b);
#pragma GCC unroll 2
        for (size_t s = 0; s < kSets; ++s) {
          const size_t own = lane + s * kLanes;
          const Affine a = [&]() HWY_ATTR {
            if constexpr (kScales != Scales::kAny) {
              return known_affine<kScales>(l, panel, own_group, own);
            } else {
              return stored_affine(l, levels, panel, own_group, own);
            }
          }();
#pragma GCC unroll 2
          for (size_t m = 0; m < kRows; ++m) {
            F& so_far = total[m * kSets + s];
            if (has_offsets) {
              so_far = hn::MulAdd(hn::Set(f, float(sum[m]) * step[m]), a.offset, so_far);
            }
            const auto less = has_zeros ? hn::Mul(middle_of(l, levels, panel, own_group, own),
                                                  hn::Set(Ints(), sum[m]))
                                        : hn::Set(Ints(), levels.middle * sum[m]);
            const F dot = hn::ConvertTo(f, hn::Sub(dots[m * kSets + s], less));
            so_far = hn::MulAdd(hn::Mul(dot, hn::Set(f, step[m])), a.scale, so_far);
          }
        }
      };
      add_part.template operator()<0>();
      if constexpr (kHalves) add_part.template operator()<1>();
    }
    for (size_t n = 0; n < kFew<kRows>; ++n) {
      hn::StoreU(total[n], f, out + n / kSets * kPanelRows + lane + n % kSets * kLanes);
    }
  }
  for (size_t m = 0; m < kRows; ++m) task.store(m, out + m * kPanelRows);
}

template <int kLow, int kHigh, bool kLevels, bool kHalves, size_t kRows>
void few_rows(const PanelTask& task) {
  [[maybe_unused]] const Scales scales = scales_of(*task.layout);
  constexpr bool kHasOwn = kHasManyKernels && !kLevels && kLow >= 4;
  if constexpr (kHasOwn && kHalves) {
    if (scales == Scales::kBytes) {
      return few_rows<kLow, kHigh, false, true, kRows, Scales::kBytes>(task);
    }
  } else if constexpr (kHasOwn) {
    if (scales == Scales::kHalf) {
      return few_rows<kLow, kHigh, false, false, kRows, Scales::kHalf>(task);
    }
    if (scales == Scales::kPairs) {
      return few_rows<kLow, kHigh, false, false, kRows, Scales::kPairs>(task);
    }
  }
  few_rows<kLow, kHigh, kLevels, kHalves, kRows, Scales::kAny>(task);
}

/// Some blocks of a panel, decoded for many rows of x: q less what every q has too much.
struct Decoded {
  alignas(
      64) int16_t words[kChunkBlocks * 8 * 2 * 2 * kPanelRows];  // [block][four][parity][row][2]
  alignas(64) float scales[2 * kChunkBlocks * kPanelRows], offsets[2 * kChunkBlocks * kPanelRows];
};

template <int kLow, int kHigh, bool kLevels, size_t g, size_t kEnd>
HWY_INLINE void decode_fours(const uint8_t* block, size_t lane, hn::Vec<Bytes> table,
                             hn::Vec<Words> middle, int16_t* to) {
  if constexpr (g < kEnd) {
    const auto bytes = four<kLow, kHigh, kLevels, g>(block, lane, table);
    int16_t* own = to + g * 4 * kPanelRows + 2 * lane;
    hn::StoreU(hn::Sub(even_columns(bytes), middle), Words(), own);
    hn::StoreU(hn::Sub(odd_columns(bytes), middle), Words(), own + 2 * kPanelRows);
    decode_fours<kLow, kHigh, kLevels, g + 1, kEnd>(block, lane, table, middle, to);
  }
}

template <int kLow, int kHigh, bool kLevels, bool kHalves>
void decode(const PanelTask& task, const LevelBytes& levels, size_t first, size_t count,
            Decoded& to) {
  constexpr size_t kScales = kHalves ? 2 : 1, kFours = 8 / kScales;
  const PanelLayout& l = *task.layout;
  const std::byte* panel = task.panel_data();
  const auto table = hn::LoadDup128(Bytes(), levels.table);
  for (size_t b = 0; b < count; ++b) {
    const auto* block =
        reinterpret_cast<const uint8_t*>(panel + l.first_block) + (first + b) * l.block_bytes;
    for (size_t lane = 0; lane < kPanelRows; lane += kLanes) {
      const auto decode_scale = [&]<size_t kScale>() HWY_ATTR {
        const size_t own_group = kHalves ? 2 * (first + b) + kScale : l.group_of(first + b);
        const auto middle = middle_of(l, levels, panel, own_group, lane);
        const auto both = hn::BitCast(Words(), hn::Or(middle, hn::ShiftLeft<16>(middle)));
        decode_fours<kLow, kHigh, kLevels, kScale * kFours, (kScale + 1) * kFours>(
            block, lane, table, both, to.words + b * 32 * kPanelRows);
        const Affine a = stored_affine(l, levels, panel, own_group, lane);
        const size_t at = (kScales * b + kScale) * kPanelRows + lane;
        hn::StoreU(a.scale, Floats(), to.scales + at);
        hn::StoreU(a.offset, Floats(), to.offsets + at);
      };
      decode_scale.template operator()<0>();
      if constexpr (kHalves) decode_scale.template operator()<1>();
    }
  }
}

/// A group of rows of x by decoded blocks; their sums so far are in `sums`, [row][kPanelRows]. All
/// formats share it.
template <size_t kRows, bool kHalves>
HWY_NOINLINE void tile(const PanelTask& task, const Decoded& from, size_t i, size_t first,
                       size_t count, float* sums) {
  constexpr size_t kScales = kHalves ? 2 : 1, kPairs = 16 / kScales, kAll = kRows * kSets;
  const Floats f;
  const size_t at = (task.word_row + i) * task.layout->blocks + first * kRows;
  const bool has_offsets = task.layout->has_offsets;
  for (size_t lane = 0; lane < kPanelRows; lane += kSetRows) {
    const int16_t *x = task.x.words.data() + at * kBlockColumns, *w = from.words + 2 * lane;
    const float *steps = task.x.steps.data() + at, *scales = from.scales + lane;
    const float* offsets = from.offsets + lane;
    const int32_t* x_sums = task.x.sums.data() + at * kScales;
    // Register n has row n / kSets of x and set n % kSets of the panel's rows.
    const auto sum_at = [&](size_t n) {
      return sums + n / kSets * kPanelRows + lane + n % kSets * kLanes;
    };
    F total[kAll];
    for (size_t n = 0; n < kAll; ++n) total[n] = hn::LoadU(f, sum_at(n));
    for (size_t b = 0; b < count; ++b, steps += kRows) {
      for (size_t part = 0; part < kScales; ++part) {
        Sums own[kAll];
#pragma GCC unroll 16
        for (size_t pair = 0; pair < kPairs; ++pair) {
          hn::Vec<Words> both[kSets];
          for (size_t s = 0; s < kSets; ++s) {
            both[s] = hn::LoadU(Words(), w + 2 * (pair * kPanelRows + s * kLanes));
          }
          for (size_t n = 0; n < kAll; ++n) {
            own[n].add(both[n % kSets], x + (pair * kRows + n / kSets) * 2);
          }
        }
        F scale[kSets];
        for (size_t s = 0; s < kSets; ++s) scale[s] = hn::LoadU(f, scales + s * kLanes);
        if (has_offsets) {
          for (size_t n = 0; n < kAll; ++n) {
            const F step = hn::Set(f, float(x_sums[n / kSets]) * steps[n / kSets]);
            total[n] = hn::MulAdd(step, hn::LoadU(f, offsets + n % kSets * kLanes), total[n]);
          }
        }
        for (size_t n = 0; n < kAll; ++n) {
          const F dot = hn::Mul(own[n].value(), hn::Set(f, steps[n / kSets]));
          total[n] = hn::MulAdd(dot, scale[n % kSets], total[n]);
        }
        x += kPairs * 2 * kRows;
        w += kPairs * 2 * kPanelRows;
        x_sums += kRows;
        scales += kPanelRows;
        offsets += kPanelRows;
      }
    }
    for (size_t n = 0; n < kAll; ++n) hn::StoreU(total[n], f, sum_at(n));
  }
}

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

template <int kLow, int kHigh, bool kLevels, bool kHalves>
void rows_of(const PanelTask& task) {
  switch (task.x_rows()) {
    case 1:
      return few_rows<kLow, kHigh, kLevels, kHalves, 1>(task);
    case 2:
      if constexpr (kHasManyKernels) return few_rows<kLow, kHigh, kLevels, kHalves, 2>(task);
      [[fallthrough]];
    default:
      return many_rows<kLow, kHigh, kLevels, kHalves>(task);
  }
}

template <int kLow, int kHigh, bool kLevels>
void word_panel(const PanelTask& task) {
  task.layout->group < kBlockColumns ? rows_of<kLow, kHigh, kLevels, true>(task)
                                     : rows_of<kLow, kHigh, kLevels, false>(task);
}

void packed_panel(const PanelTask& task) {
  with_format(*task.layout, [&]<int kLow, int kHigh, bool kLevels>()
                                HWY_ATTR { word_panel<kLow, kHigh, kLevels>(task); });
}

/// One block of x as whole numbers of a step, a NaN where one of them is no finite number.
void round_block(const float* x, int32_t* whole, float& step) {
  constexpr float kMaxWord = 32767, kMinLargest = 1e-30f;
  const Floats f;
  F largest = hn::Zero(f), nothing = hn::Zero(f);
  for (size_t i = 0; i < kBlockColumns; i += kLanes) {
    const F v = hn::LoadU(f, x + i);
    largest = hn::Max(largest, hn::Abs(v));
    nothing = hn::MulAdd(v, hn::Zero(f), nothing);  // no number if any of them is infinite or none
  }
  const float most = hn::GetLane(hn::MaxOfLanes(f, largest)), finite = sum_of(nothing);
  const bool is_none = finite != 0;
  step = is_none ? std::numeric_limits<float>::quiet_NaN() : most / kMaxWord;
  if (most < kMinLargest && !is_none) step = 0;
  const F inverse = hn::Set(f, is_none || step == 0 ? 0.0f : kMaxWord / most);
  for (size_t i = 0; i < kBlockColumns; i += kLanes) {
    const F v = is_none ? hn::Zero(f) : hn::LoadU(f, x + i);
    hn::Store(hn::NearestInt(hn::Mul(v, inverse)), Ints(), whole + i);
  }
}

/// Row i of a part as words, to its place in its group.
void fill_row(const ProductInput& input, const float* x, const WordGroup& group, size_t row,
              int16_t* words, float* steps, int32_t* sums) {
  const size_t blocks = ceil_div(input.columns, size_t{kBlockColumns});
  const size_t each = kBlockColumns / input.scales, n = group.count;
  float last[kBlockColumns] = {};
  for (size_t b = 0; b < blocks; ++b) {
    alignas(64) int32_t whole[kBlockColumns];
    const float* block = x + b * kBlockColumns;
    if (input.columns - b * kBlockColumns < kBlockColumns) {
      std::copy(block, x + input.columns, last);
      block = last;
    }
    round_block(block, whole, steps[b * n + row]);
    for (size_t s = 0; s < input.scales; ++s) {
      int32_t sum = 0;
      for (size_t i = s * each; i < (s + 1) * each; ++i) sum += whole[i];
      sums[(b * input.scales + s) * n + row] = sum;
    }
    int16_t* to = words + b * kBlockColumns * n + 2 * row;
    for (size_t i = 0; i < kBlockColumns; i += 4, to += 4 * n) {
      const auto pair = [](int32_t a, int32_t c) {
        return uint32_t(uint16_t(a)) | uint32_t(c) << 16;
      };
      const uint32_t even = pair(whole[i], whole[i + 2]), odd = pair(whole[i + 1], whole[i + 3]);
      std::memcpy(to, &even, sizeof even);
      std::memcpy(to + 2 * n, &odd, sizeof odd);
    }
  }
}

void fill(ThreadPool& pool, std::span<const PartProduct> parts, ProductInput& input) {
  const size_t blocks = ceil_div(input.columns, size_t{kBlockColumns});
  pool.run(input.begins.back(), [&](size_t first, size_t last) HWY_ATTR {
    for (size_t at = first; at < last; ++at) {
      const size_t p = part_of(input.begins, at), i = at - input.begins[p];
      const WordGroup group(i, parts[p].rows(input.rows));
      const size_t begin = (input.begins[p] + group.first) * blocks;
      fill_row(input, input.x.data() + parts[p].x_row(i) * input.columns, group, i - group.first,
               input.words.data() + begin * kBlockColumns, input.steps.data() + begin,
               input.sums.data() + begin * input.scales);
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

void fill_words(ThreadPool& pool, std::span<const PartProduct> parts, ProductInput& input) {
  HWY_DYNAMIC_DISPATCH(fill)(pool, parts, input);
}

}  // namespace tokamak
#endif
