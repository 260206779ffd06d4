// The q of a panel as bytes; as vectors.h, it is read once for each instruction set.
#if defined(TOKAMAK_CPU_PANEL_BYTES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOKAMAK_CPU_PANEL_BYTES_H
#undef TOKAMAK_CPU_PANEL_BYTES_H
#else
#define TOKAMAK_CPU_PANEL_BYTES_H
#endif

#include "kernels/cpu/panel_task.h"
#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {

using Bytes = hn::Repartition<uint8_t, Floats>;
using Shorts = hn::Repartition<uint16_t, Floats>;

HWY_INLINE hn::Vec<Shorts> shorts_at(const uint8_t* from) {
  return hn::BitCast(Shorts(), hn::LoadU(Bytes(), from));
}

/// Four g of a block as bytes, of the rows from `lane` on.
template <int kLow, int kHigh, bool kLevels, size_t g>
HWY_INLINE hn::Vec<Shorts> four(const uint8_t* block, size_t lane, hn::Vec<Bytes> table) {
  const Shorts d;
  const uint8_t* from = block + 4 * lane;
  auto v = hn::Zero(d);
  if constexpr (kLow == 8) {
    v = shorts_at(from + kFourBytes * g);
  } else if constexpr (kLow == 4) {
    v = shorts_at(from + kFourBytes * (g % 4));
    if constexpr (g >= 4) v = hn::ShiftRight<4>(v);
    v = hn::And(v, hn::Set(d, 0x0f0f));
  } else {
    v = shorts_at(from + kFourBytes * (g / 4));
    if constexpr (g % 4 != 0) v = hn::ShiftRight<2 * (g % 4)>(v);
    v = hn::And(v, hn::Set(d, 0x0303));
  }
  if constexpr (kHigh == 1) {
    auto h = shorts_at(from + kFourBytes * kLow);
    if constexpr (g != 0) h = hn::ShiftRight<g>(h);
    v = hn::Or(v, hn::ShiftLeft<kLow>(hn::And(h, hn::Set(d, 0x0101))));
  } else if constexpr (kHigh == 2) {
    auto h = shorts_at(from + kFourBytes * (kLow + g / 4));
    if constexpr (g % 4 != 0) h = hn::ShiftRight<2 * (g % 4)>(h);
    v = hn::Or(v, hn::ShiftLeft<kLow>(hn::And(h, hn::Set(d, 0x0303))));
  }
  if constexpr (kLevels) v = hn::BitCast(d, hn::TableLookupBytes(table, hn::BitCast(Bytes(), v)));
  return v;
}

}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
