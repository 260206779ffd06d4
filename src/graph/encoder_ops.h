// Operations that encoders have beside those of decoders: norms with a mean, layers without a gate,
// learned positions, and one row of a whole sequence.
#pragma once
#include <cstdint>
#include <string_view>

#include "graph/activation.h"

namespace tokamak {

/// Normalises each group of n neighbours: y = (x - mean) * rsqrt(mean((x - mean)²) + eps) * w + b.
///                                        (x [T, k*n], w [n], b? [n]) -> [T, k*n]
struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  float eps = 0;
  static void fields(auto& op, auto&& visit) { visit("eps", op.eps); }
  bool operator==(const LayerNorm&) const = default;
};

/// y = activation(x)                            (x [T, n]) -> [T, n]
struct Activate {
  static constexpr std::string_view kName = "activate";
  Activation activation = Activation::kSilu;
  static void fields(auto& op, auto&& visit) { visit("activation", op.activation); }
  bool operator==(const Activate&) const = default;
};

/// y[t, :] = x[t, :] + table[offset + position of t, :], the positions those of the sequence.
///                                              (x [T, n], table [rows, n]) -> [T, n]
struct AddPositions {
  static constexpr std::string_view kName = "add_positions";
  uint32_t offset = 0;
  static void fields(auto& op, auto&& visit) { visit("offset", op.offset); }
  bool operator==(const AddPositions&) const = default;
};

/// The first row of each slot                   (x [T, n]) -> [O, n]
struct FirstRow {
  static constexpr std::string_view kName = "first_row";
  static void fields(auto&, auto&&) {}
  bool operator==(const FirstRow&) const = default;
};

/// The mean of each slot's rows                 (x [T, n]) -> [O, n]
struct MeanRows {
  static constexpr std::string_view kName = "mean_rows";
  static void fields(auto&, auto&&) {}
  bool operator==(const MeanRows&) const = default;
};

}  // namespace tokamak
