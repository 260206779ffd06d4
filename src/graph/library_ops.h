// Operations around the products of a vendor's library, which multiply bf16 and nothing else: the
// pass library_products makes them.
#pragma once
#include <cstdint>
#include <string_view>

#include "graph/activation.h"

namespace tokamak {

/// activation(x + bias) rounded to bf16, to nearest, ties to even: rows of a step, or a matrix of
/// weights of any type, of which nothing is made but that. n is a multiple of 8.
///                                                     (x [m, n], bias? [n]) -> bf16 [m, n]
struct ToBf16 {
  static constexpr std::string_view kName = "to_bf16";
  Activation activation = Activation::kIdentity;
  static void fields(auto& op, auto&& visit) { visit("activation", op.activation); }
  bool operator==(const ToBf16&) const = default;
};

/// A linear by `rows` rows of W, and numbers of the bias, from row `first` on; sums in f32, which
/// may be `rounded` to bf16 where there is no bias. All sizes are multiples of 8.
///                     (x bf16 [T, in], w bf16 [out, in], bias? [out]) -> [T, rows]
struct Bf16Linear {
  static constexpr std::string_view kName = "bf16_linear";
  uint32_t first = 0;
  uint32_t rows = 0;
  bool rounded = false;
  static void fields(auto& op, auto&& visit) {
    visit("first", op.first);
    visit("rows", op.rows);
    visit("rounded", op.rounded);
  }
  bool operator==(const Bf16Linear&) const = default;
};

/// What linear_glu makes of its product, rounded as by to_bf16:
/// y[t, i] = activation(x[t, 2i]) * x[t, 2i + 1]. n is a multiple of 8.
///                                              (x f32 or bf16 [T, 2*n]) -> bf16 [T, n]
struct PairGlu {
  static constexpr std::string_view kName = "pair_glu";
  Activation activation = Activation::kSilu;
  static void fields(auto& op, auto&& visit) { visit("activation", op.activation); }
  bool operator==(const PairGlu&) const = default;
};

}  // namespace tokamak
