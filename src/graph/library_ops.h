// Operations around the products of a vendor's library, which multiply bf16 or f16 and nothing
// else: the pass library_products makes them.
#pragma once
#include <cstdint>
#include <string_view>

#include "graph/activation.h"
#include "graph/half.h"

namespace tokamak {

/// activation(x + bias) as `type`: rows of a step, or a matrix of weights of any type, of which
/// nothing is made but that. n is a multiple of 8.
///                                                   (x [m, n], bias? [n]) -> type [m, n]
struct ToHalf {
  static constexpr std::string_view kName = "to_half";
  Activation activation = Activation::kIdentity;
  Half type = Half::kBf16;
  static void fields(auto& op, auto&& visit) {
    visit("activation", op.activation);
    visit("type", op.type);
  }
  bool operator==(const ToHalf&) const = default;
};

/// A linear of bf16 or f16 by `rows` rows of W, and numbers of the bias, from row `first` on; sums
/// in f32, which may be `rounded` to the type of x where there is no bias. All sizes are multiples
/// of 8.               (x half [T, in], w half [out, in], bias? [out]) -> [T, rows]
struct HalfLinear {
  static constexpr std::string_view kName = "half_linear";
  uint32_t first = 0;
  uint32_t rows = 0;
  bool rounded = false;
  static void fields(auto& op, auto&& visit) {
    visit("first", op.first);
    visit("rows", op.rows);
    visit("rounded", op.rounded);
  }
  bool operator==(const HalfLinear&) const = default;
};

/// The values that linear_glu makes of its product, as `type`:
/// y[t, i] = activation(x[t, 2i]) * x[t, 2i + 1]. n is a multiple of 8.
///                                              (x f32 or half [T, 2*n]) -> type [T, n]
struct PairGlu {
  static constexpr std::string_view kName = "pair_glu";
  Activation activation = Activation::kSilu;
  Half type = Half::kBf16;
  static void fields(auto& op, auto&& visit) {
    visit("activation", op.activation);
    visit("type", op.type);
  }
  bool operator==(const PairGlu&) const = default;
};

/// activation(gate[t, i]) * up[t, first + i] as `type`; with the weights of a norm, up as rms_norm
/// makes it, each d columns by themselves: d is a power of two from 4 to 128. n, first and the
/// columns of up are multiples of 8.
///                                   (gate [T, n], up [T, columns], norm? [d]) -> type [T, n]
struct GatedHalf {
  static constexpr std::string_view kName = "gated_half";
  static constexpr uint32_t kMaxHead = 128;  // whose squares the lanes of a subgroup add up
  Activation activation = Activation::kSilu;
  uint32_t first = 0;
  float eps = 0;
  Half type = Half::kBf16;
  static void fields(auto& op, auto&& visit) {
    visit("activation", op.activation);
    visit("first", op.first);
    visit("eps", op.eps);
    visit("type", op.type);
  }
  bool operator==(const GatedHalf&) const = default;
};

}  // namespace tokamak
