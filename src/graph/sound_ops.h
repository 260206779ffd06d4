// Operations of models that hear: what a convolution over time reads, and a norm over all of a
// sound.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// What a convolution over time reads, so that the rest of it is a product. Row p of the sequence
/// has `taps` neighbouring rows of x from stride * p - pad on, zeros where there are none, ordered
/// as checkpoints order their weights: y[p, c * taps + j] = x[stride * p - pad + j, c].
///                                              (x [rows, n]) -> [T, n * taps]
struct Unfold {
  static constexpr std::string_view kName = "unfold";
  uint32_t taps = 1;
  uint32_t stride = 1;
  uint32_t pad = 0;
  static void fields(auto& op, auto&& visit) {
    visit("taps", op.taps);
    visit("stride", op.stride);
    visit("pad", op.pad);
  }
  bool operator==(const Unfold&) const = default;
};

/// Normalises all elements of a slot's rows together, columns by weights of their own (GroupNorm of
/// one group, arXiv:1803.08494): y = (x - mean) * rsqrt(mean((x - mean)²) + eps) * w[c] + b[c].
///                                              (x [T, n], w [n], b [n]) -> [T, n]
struct GroupNorm {
  static constexpr std::string_view kName = "group_norm";
  float eps = 0;
  static void fields(auto& op, auto&& visit) { visit("eps", op.eps); }
  bool operator==(const GroupNorm&) const = default;
};

}  // namespace tokamak
