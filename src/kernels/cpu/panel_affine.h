// The scales of a panel in vectors; as vectors.h, it is read once for each instruction set.
#if defined(TOKAMAK_CPU_PANEL_AFFINE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOKAMAK_CPU_PANEL_AFFINE_H
#undef TOKAMAK_CPU_PANEL_AFFINE_H
#else
#define TOKAMAK_CPU_PANEL_AFFINE_H
#endif

#include "kernels/cpu/panel_task.h"
#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {

/// s and o of a group.
struct Affine {
  F scale, offset;
};

/// The kind of a panel's scales, as far as kernels are compiled for it: f16 without offsets, bytes,
/// pairs of bytes, or any.
enum class Scales { kHalf, kBytes, kPairs, kAny };

inline Scales scales_of(const PanelLayout& l) {
  if (l.code == PanelCode::kLevels || l.has_zeros) return Scales::kAny;
  if (l.scale == PanelScale::kF16 && !l.has_offsets) return Scales::kHalf;
  if (l.scale == PanelScale::kBytes) return Scales::kBytes;
  return l.scale == PanelScale::kPairs ? Scales::kPairs : Scales::kAny;
}

template <Scales kScales>
HWY_INLINE Affine known_affine(const PanelLayout& l, const std::byte* panel, size_t group,
                               size_t lane) {
  const size_t at = group * kPanelRows + lane;
  if constexpr (kScales == Scales::kHalf) {
    return {load_f16(panel + l.scales + 2 * at), hn::Zero(Floats())};
  } else {
    const size_t super = 2 * (group * l.group / 256 * kPanelRows + lane);
    const F d = load_f16(panel + l.supers + super);
    if constexpr (kScales == Scales::kBytes) {
      return {hn::Mul(d, load_signed_bytes(panel + l.scales + at)), hn::Zero(Floats())};
    } else {
      const F least = load_f16(panel + l.super_offsets + super);
      return {hn::Mul(d, load_bytes(panel + l.scales + at)),
              hn::Neg(hn::Mul(least, load_bytes(panel + l.offsets + at)))};
    }
  }
}

HWY_INLINE Affine stored_affine(const PanelLayout& l, const LevelBytes& levels,
                                const std::byte* panel, size_t group, size_t lane) {
  const Floats f;
  const size_t at = group * kPanelRows + lane;
  F s = hn::Zero(f), o = hn::Zero(f);
  switch (l.scale) {
    case PanelScale::kF16:
      s = load_f16(panel + l.scales + 2 * at);
      if (l.has_offsets) o = load_f16(panel + l.offsets + 2 * at);
      break;
    case PanelScale::kBF16:
      s = load_bf16(panel + l.scales + 2 * at);
      if (l.has_offsets) o = load_bf16(panel + l.offsets + 2 * at);
      break;
    case PanelScale::kF32:
      s = hn::LoadU(f, reinterpret_cast<const float*>(panel + l.scales) + at);
      if (l.has_offsets) o = hn::LoadU(f, reinterpret_cast<const float*>(panel + l.offsets) + at);
      break;
    case PanelScale::kBytes:
      s = known_affine<Scales::kBytes>(l, panel, group, lane).scale;
      break;
    case PanelScale::kPairs: {
      const Affine pair = known_affine<Scales::kPairs>(l, panel, group, lane);
      s = pair.scale;
      o = pair.offset;
      break;
    }
  }
  if (l.code == PanelCode::kLevels) s = hn::Mul(s, hn::Set(f, levels.unit));
  return {s, o};
}

/// The number that every q of a group has too much: the middle, and z.
HWY_INLINE hn::Vec<Ints> middle_of(const PanelLayout& l, const LevelBytes& levels,
                                   const std::byte* panel, size_t group, size_t lane) {
  const Ints ints;
  const auto middle = hn::Set(ints, levels.middle);
  if (!l.has_zeros) return middle;
  const hn::Rebind<uint8_t, Ints> bytes;
  const auto* zeros = reinterpret_cast<const uint8_t*>(panel + l.zeros + group * kPanelRows + lane);
  return hn::Add(middle, hn::PromoteTo(ints, hn::LoadU(bytes, zeros)));
}

/// s of a group, and o less what every q has too much of it.
HWY_INLINE Affine affine_of(const PanelLayout& l, const LevelBytes& levels, const std::byte* panel,
                            size_t group, size_t lane) {
  const auto [s, o] = stored_affine(l, levels, panel, group, lane);
  const F middle = hn::ConvertTo(Floats(), middle_of(l, levels, panel, group, lane));
  return {s, hn::NegMulAdd(middle, s, o)};
}

}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
