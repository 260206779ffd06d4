// Units for tiles of x86 processors under Linux: AMX and the pairs of AVX-512 BF16, by intrinsics.
// Nothing here runs before the processor and the system were asked.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "kernels/cpu/tiles.h"

#define TOKAMAK_CPU_AMX __attribute__((target("amx-tile,amx-bf16,avx512f")))
#define TOKAMAK_CPU_PAIRS __attribute__((target("avx512f,avx512bw,avx512bf16")))

namespace tokamak {
namespace {

using Pairs = int32_t __attribute__((vector_size(64)));

/// Writes the pairs of 16 rows by columns. Its shuffles are _mm512_unpacklo_epi32() and so on,
/// whose definitions in GCC 12 warn of values that are not set.
__attribute__((target("avx512f"))) void interleave(const std::byte* rows, size_t row_bytes,
                                                   uint16_t* tile) {
  Pairs r[16], t[16];
#pragma GCC unroll 16
  for (size_t i = 0; i < 16; ++i) __builtin_memcpy(&r[i], rows + i * row_bytes, sizeof r[i]);
#pragma GCC unroll 8
  for (size_t i = 0; i < 16; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28,
                                   13, 29);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27,
                                       14, 30, 15, 31);
  }
  // r[4 a + b]: of each 128 bits, their column b in rows 4 a to 4 a + 3.
#pragma GCC unroll 8
  for (size_t i = 0; i < 16; i += 2) {
    const size_t from = i / 4 * 4 + i % 4 / 2;
    r[i] = __builtin_shufflevector(t[from], t[from + 2], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25,
                                   12, 13, 28, 29);
    r[i + 1] = __builtin_shufflevector(t[from], t[from + 2], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26,
                                       27, 14, 15, 30, 31);
  }
#pragma GCC unroll 4
  for (size_t b = 0; b < 4; ++b) {
    const auto first = [](auto x, auto y) __attribute__((target("avx512f"), always_inline)) {
      return __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26,
                                     27);
    };
    const auto second = [](auto x, auto y) __attribute__((target("avx512f"), always_inline)) {
      return __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30,
                                     31);
    };
    // Quarters 0 and 2 of two vectors, and quarters 1 and 3.
    const Pairs even01 = first(r[b], r[4 + b]), odd01 = second(r[b], r[4 + b]);
    const Pairs even23 = first(r[8 + b], r[12 + b]), odd23 = second(r[8 + b], r[12 + b]);
    const Pairs columns[4] = {first(even01, even23), first(odd01, odd23), second(even01, even23),
                              second(odd01, odd23)};
    for (size_t i = 0; i < 4; ++i) {
      __builtin_memcpy(tile + (4 * i + b) * 2 * kTileRows, &columns[i], sizeof columns[i]);
    }
  }
}

/// The operand of LDTILECFG: eight tiles of 16 rows of 64 bytes.
struct TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

TOKAMAK_CPU_AMX void begin_amx() {
  alignas(64) static constexpr TileShapes kShapes;
  _tile_loadconfig(&kShapes);
}

TOKAMAK_CPU_AMX void end_amx() {
  _tile_release();
}

TOKAMAK_CPU_AMX void multiply_amx(const uint16_t* x, size_t x_stride, const uint16_t* w,
                                  size_t w_stride, size_t tiles, bool adds, float* c) {
  constexpr size_t kSums = kTileRows * kTileRows;
  if (adds) {
    _tile_loadd(0, c, 64);
    _tile_loadd(1, c + kSums, 64);
    _tile_loadd(2, c + 2 * kSums, 64);
    _tile_loadd(3, c + 3 * kSums, 64);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (size_t i = 0; i < tiles; ++i, x += kTileSize, w += kTileSize) {
    _tile_loadd(4, x, 64);
    _tile_loadd(6, w, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, w + w_stride, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, x + x_stride, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, 64);
  _tile_stored(1, c + kSums, 64);
  _tile_stored(2, c + 2 * kSums, 64);
  _tile_stored(3, c + 3 * kSums, 64);
}

TOKAMAK_CPU_PAIRS inline __m512bh pairs_at(const uint16_t* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}

/// Rows of x that share the registers.
constexpr size_t kPairRows = 8;

TOKAMAK_CPU_PAIRS void multiply_pairs(const uint16_t* x, size_t x_stride, const uint16_t* w,
                                      size_t w_stride, size_t tiles, bool adds, float* c) {
  for (size_t row = 0; row < 2 * kTileRows; row += kPairRows) {
    const uint16_t* own = x + row / kTileRows * x_stride + row % kTileRows * kTileColumns;
    float* sums = c + row / kTileRows * 2 * kTileRows * kTileRows + row % kTileRows * kTileRows;
    float* others = sums + kTileRows * kTileRows;
    __m512 total[kPairRows][2];
#pragma GCC unroll 8
    for (size_t r = 0; r < kPairRows; ++r) {
      total[r][0] = adds ? _mm512_loadu_ps(sums + r * kTileRows) : _mm512_setzero_ps();
      total[r][1] = adds ? _mm512_loadu_ps(others + r * kTileRows) : _mm512_setzero_ps();
    }
    for (size_t i = 0; i < tiles * kTileRows; ++i) {
      const uint16_t* from = own + i / kTileRows * kTileSize + i % kTileRows * 2;
      const auto w0 = pairs_at(w + i * 2 * kTileRows);
      const auto w1 = pairs_at(w + w_stride + i * 2 * kTileRows);
#pragma GCC unroll 8
      for (size_t r = 0; r < kPairRows; ++r) {
        int pair;
        __builtin_memcpy(&pair, from + r * kTileColumns, sizeof pair);
        const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
        total[r][0] = _mm512_dpbf16_ps(total[r][0], w0, both);
        total[r][1] = _mm512_dpbf16_ps(total[r][1], w1, both);
      }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < kPairRows; ++r) {
      _mm512_storeu_ps(sums + r * kTileRows, total[r][0]);
      _mm512_storeu_ps(others + r * kTileRows, total[r][1]);
    }
  }
}

void nothing() {}

constexpr TileUnit kAmx = {.name = "AMX",
                           .for_packed = true,
                           .begin = begin_amx,
                           .end = end_amx,
                           .multiply = multiply_amx,
                           .interleave = interleave};
constexpr TileUnit kPairs = {.name = "AVX-512 BF16",
                             .for_packed = false,
                             .begin = nothing,
                             .end = nothing,
                             .multiply = multiply_pairs,
                             .interleave = interleave};

/// Whether the system grants the memory of tiles, which programs ask for once.
bool tiles_are_granted() {
  constexpr long kAskForPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kAskForPermission, kTileData) == 0;
}

std::vector<const TileUnit*> found_units() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  std::vector<const TileUnit*> found;
  __builtin_cpu_init();
  // Asks for the registers' state, too, which a system may not keep.
  if (!__builtin_cpu_supports("avx512bw") || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) {
    return found;
  }
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24, kAvx512Bf16 = 1u << 5;
  const bool has_tiles = (d & kAmxBf16) != 0 && (d & kAmxTile) != 0;
  if (has_tiles && tiles_are_granted()) found.push_back(&kAmx);
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kAvx512Bf16) != 0) {
    found.push_back(&kPairs);
  }
  return found;
}

}  // namespace

std::span<const TileUnit* const> tile_units() {
  static const std::vector<const TileUnit*> found = found_units();
  return found;
}

}  // namespace tokamak
