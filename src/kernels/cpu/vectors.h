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

#include <limits>

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

/// Whether formats and numbers of rows have kernels of their own: in a browser's module, which is
/// to be small, kinds of scales and two rows took 70 kB of 1,220.
constexpr bool kHasManyKernels = !HWY_ARCH_WASM;

inline F load_f16(const void* from) {
#if HWY_TARGET == HWY_WASM
  // Half as many steps as Highway's, which makes numbers of infinities. The product is exact; it
  // moves the exponent, and the bits of a subnormal number to their places.
  const hn::Rebind<int16_t, Floats> half;
  const auto wide = hn::PromoteTo(Ints(), hn::LoadU(half, static_cast<const int16_t*>(from)));
  const auto magnitude = hn::And(hn::ShiftLeft<13>(wide), hn::Set(Ints(), 0x0fffe000));
  const auto moved = hn::Mul(hn::BitCast(Floats(), magnitude), hn::Set(Floats(), 0x1p112f));
  const auto is_finite = hn::Lt(magnitude, hn::Set(Ints(), 0x0f800000));
  const auto infinite = hn::AndNot(hn::VecFromMask(Ints(), is_finite), hn::Set(Ints(), 0x7f800000));
  const auto sign = hn::And(wide, hn::Set(Ints(), std::numeric_limits<int32_t>::min()));
  return hn::Or(moved, hn::BitCast(Floats(), hn::Or(sign, infinite)));
#else
  const hn::Rebind<hwy::float16_t, Floats> half;
  return hn::PromoteTo(Floats(), hn::LoadU(half, static_cast<const hwy::float16_t*>(from)));
#endif
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
