#include "kernels/cpu/candidates.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/candidates.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vectors.h"
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kMax = std::numeric_limits<float>::max();

/// The largest of value(d, i), of which none is NaN.
template <typename Value>
HWY_INLINE float largest_of(size_t count, const Value& value) {
  const Floats f;
  F largest = hn::Set(f, kLowest);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) largest = hn::Max(largest, value(f, i));
  float best = hn::GetLane(hn::MaxOfLanes(f, largest));
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) best = HWY_MAX(best, hn::GetLane(value(one, i)));
  return best;
}

/// The largest element above the lowest f32, infinity too; that one without any.
HWY_INLINE float largest_element(const float* x, size_t count) {
  return largest_of(count, [&](auto d, size_t i) HWY_ATTR {
    const auto own = hn::LoadU(d, x + i), lowest = hn::Set(d, kLowest);
    return hn::IfThenElse(hn::Gt(own, lowest), own, lowest);
  });
}

size_t place(const float* x, size_t count) {
  const float best = largest_element(x, count);
  if (best == kLowest) return 0;
  size_t at = 0;
  while (x[at] != best) ++at;
  return at;
}

/// x where it counts, else the lowest f32.
template <class D>
HWY_INLINE hn::Vec<D> counted(D d, const float* x) {
  const auto own = hn::LoadU(d, x), lowest = hn::Set(d, kLowest);
  const auto counts = hn::And(hn::Gt(own, lowest), hn::Le(own, hn::Set(d, kMax)));
  return hn::IfThenElse(counts, own, lowest);
}

Peak peak(const float* x, float by, size_t count) {
  const float best =
      largest_of(count, [&](auto d, size_t i) HWY_ATTR { return counted(d, x + i); });
  if (largest_element(x, count) > kMax) return {best, -1};
  if (best == kLowest) return {best, 0};
  const auto share = [&](auto d, size_t i) HWY_ATTR {
    const auto own = counted(d, x + i);
    const auto power = hn::Mul(hn::Sub(own, hn::Set(d, best)), hn::Set(d, by));
    // The power of an element that does not count may be no number.
    return hn::IfThenElseZero(hn::Gt(own, hn::Set(d, kLowest)), hn::Exp(d, power));
  };
  const Floats f;
  F sums = hn::Zero(f);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) sums = hn::Add(sums, share(f, i));
  float sum = sum_of(sums);
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) sum += hn::GetLane(share(one, i));
  return {best, sum};
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(place);
HWY_EXPORT(peak);

size_t place_of_largest(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(place)(x.data(), x.size());
}

Peak peak_of(std::span<const float> x, float by) {
  return HWY_DYNAMIC_DISPATCH(peak)(x.data(), by, x.size());
}

}  // namespace tokamak
#endif
