// The norms that passes make of what stands around one; see fuse/add_layer_norm.cpp,
// fuse/norm_add.cpp and fuse/rounded_norm.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/half.h"

namespace tokamak {

/// A norm, which may be of a + b: rms_norm, or layer_norm where it is `centered`. It may be
/// `rounded` as by to_half. The sum and what was rounded are results, too, where they are `summed`
/// and `plain`.      (x [T, n] or a [T, n], b [T, n], w [n], bias? [n]) -> norm, sum? [T, n], norm?
/// [T, n]
struct FusedNorm {
  static constexpr std::string_view kName = "fused_norm";
  float eps = 0;
  bool centered = false;
  bool adds = false;
  Half rounded = Half::kNone;
  bool summed = false;
  bool plain = false;
  static void fields(auto& op, auto&& visit) {
    visit("eps", op.eps);
    visit("centered", op.centered);
    visit("adds", op.adds);
    visit("rounded", op.rounded);
    visit("summed", op.summed);
    visit("plain", op.plain);
  }
  bool operator==(const FusedNorm&) const = default;
  /// The index of the weight among its operands.
  size_t weight() const { return adds ? 2 : 1; }
};

/// Every one that there is.
inline std::vector<FusedNorm> fused_norms(float eps) {
  std::vector<FusedNorm> all;
  for (uint32_t bits = 0; bits < 16; ++bits) {
    const auto has = [&](uint32_t bit) { return (bits >> bit & 1) != 0; };
    for (const Half rounded : {Half::kNone, Half::kBf16, Half::kF16}) {
      const FusedNorm one = {eps, has(0), has(1), rounded, has(2), has(3)};
      if ((one.summed && !one.adds) || (one.plain && rounded == Half::kNone)) continue;
      all.push_back(one);
    }
  }
  return all;
}

/// A norm that is added to a, all of it scaled; where it is `normed`, the norm of that, too, which
/// may be `rounded` as by to_half. Norms are rms_norm with the same eps.
///   s = (a + norm(x, u)) * factor * k[0]     y = norm(s, v)
/// (x [T, n], a [T, n], u [m], k? [1] where it is `scaled`, v? [n]) -> y? [T, n], s [T, n]
/// m divides n, and is n where it is `normed`.
struct NormAdd {
  static constexpr std::string_view kName = "norm_add";
  float eps = 0;
  float factor = 1;
  bool scaled = false;
  bool normed = false;
  Half rounded = Half::kNone;
  static void fields(auto& op, auto&& visit) {
    visit("eps", op.eps);
    visit("factor", op.factor);
    visit("scaled", op.scaled);
    visit("normed", op.normed);
    visit("rounded", op.rounded);
  }
  bool operator==(const NormAdd&) const = default;
};

/// Every one that there is.
inline std::vector<NormAdd> norm_adds(float eps, float factor) {
  std::vector<NormAdd> all;
  for (const bool scaled : {false, true}) {
    all.push_back({eps, factor, scaled});
    for (const Half rounded : {Half::kNone, Half::kBf16, Half::kF16}) {
      all.push_back({eps, factor, scaled, true, rounded});
    }
  }
  return all;
}

}  // namespace tokamak
