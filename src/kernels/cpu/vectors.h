// Highway, for sources that are compiled once for each instruction set.
//
// Such a source defines HWY_TARGET_INCLUDE as its own path, includes hwy/foreach_target.h and then
// this, and has its functions in namespace tokamak::HWY_NAMESPACE between HWY_BEFORE_NAMESPACE()
// and HWY_AFTER_NAMESPACE(). No include guard: it is read once for each set.
#if defined(TOKAMAK_CPU_VECTORS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOKAMAK_CPU_VECTORS_H
#undef TOKAMAK_CPU_VECTORS_H
#else
#define TOKAMAK_CPU_VECTORS_H
#endif

#include <hwy/highway.h>

#include "base/bits.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// f32 in registers of at most 16 lanes, the rows of a panel.
using Floats = hn::CappedTag<float, 16>;
using F = hn::Vec<Floats>;
inline constexpr size_t kLanes = hn::MaxLanes(Floats());
using Words = hn::Repartition<int16_t, Floats>;
using Ints = hn::Repartition<int32_t, Floats>;
using Unsigned = hn::Repartition<uint32_t, Floats>;

inline F load_f16(const void* from) {
  const hn::Rebind<hwy::float16_t, Floats> half;
  return hn::PromoteTo(Floats(), hn::LoadU(half, static_cast<const hwy::float16_t*>(from)));
}
inline F load_bf16(const void* from) {
  const hn::Rebind<uint16_t, Floats> half;
  const auto bits = hn::PromoteTo(Unsigned(), hn::LoadU(half, static_cast<const uint16_t*>(from)));
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(bits));
}
inline F load_bytes(const void* from) {
  const hn::Rebind<uint8_t, Floats> bytes;
  const auto wide = hn::PromoteTo(Ints(), hn::LoadU(bytes, static_cast<const uint8_t*>(from)));
  return hn::ConvertTo(Floats(), wide);
}
inline F load_signed_bytes(const void* from) {
  const hn::Rebind<int8_t, Floats> bytes;
  const auto wide = hn::PromoteTo(Ints(), hn::LoadU(bytes, static_cast<const int8_t*>(from)));
  return hn::ConvertTo(Floats(), wide);
}

inline float sum_of(F v) {
  return hn::GetLane(hn::SumOfLanes(Floats(), v));
}

}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
