// Fused ops: made by the passes in fuse/, named after their parts in data order. Each has its
// unfused definition in the pass that makes it.
#pragma once
#include <cstdint>
#include <string_view>

#include "graph/activation.h"

namespace tokamak {

/// sum = a + b; norm = rms_norm(sum, w)         (a [T, n], b [T, n], w [n]) -> sum, norm
struct AddRmsNorm {
  static constexpr std::string_view kName = "add_rms_norm";
  float eps = 0;
  static void fields(auto& op, auto&& visit) { visit("eps", op.eps); }
  bool operator==(const AddRmsNorm&) const = default;
};

/// Three linears of one input; w and bias are the concatenated rows, `q` and `k` the first two's.
///     (x [T, in], w [q+k+v, in], bias? [q+k+v]) -> [T, q], [T, k], [T, v]
struct Qkv {
  static constexpr std::string_view kName = "qkv";
  uint32_t q_rows = 0;
  uint32_t k_rows = 0;
  static void fields(auto& op, auto&& visit) {
    visit("q_rows", op.q_rows);
    visit("k_rows", op.k_rows);
  }
  bool operator==(const Qkv&) const = default;
};

/// glu(linear(x, gate), linear(x, up)); rows of gate and up alternate in w and bias.
///     (x [T, in], w [2*n, in], bias? [2*n]) -> [T, n]
struct LinearGlu {
  static constexpr std::string_view kName = "linear_glu";
  Activation activation = Activation::kSilu;
  static void fields(auto& op, auto&& visit) { visit("activation", op.activation); }
  bool operator==(const LinearGlu&) const = default;
};

}  // namespace tokamak
