// Operations of models that hear: what a convolution over time reads, and a norm over all of a
// sound; and of those that make a sound from codes: convolutions that look back only.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// The rows that a convolution over time reads: the rest of it is a product. Row p of the sequence
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

/// y = x between low and high, and those beyond them     (x [T, n]) -> [T, n]
struct Clamp {
  static constexpr std::string_view kName = "clamp";
  float low = -1, high = 1;
  static void fields(auto& op, auto&& visit) {
    visit("low", op.low);
    visit("high", op.high);
  }
  bool operator==(const Clamp&) const = default;
};

/// y = (x - mean[c]) * by[c]                    (x [T, n], mean [n], by [n]) -> [T, n]
struct Standardize {
  static constexpr std::string_view kName = "standardize";
  static void fields(auto&, auto&&) {}
  bool operator==(const Standardize&) const = default;
};

/// The first n/2 columns, rounded down, by a snake (arXiv:2006.08195) with a rate each, the others
/// by a leaky ReLU: y = x + sin²(a x) / (a + 1e-9), and y = x or, below 0, x / 100.
/// Reference: NeMo, nemo/collections/tts/modules/audio_codec_modules.py, HalfSnake.
///                                              (x [T, n], a [n/2]) -> [T, n]
struct HalfSnake {
  static constexpr std::string_view kName = "half_snake";
  static void fields(auto&, auto&&) {}
  bool operator==(const HalfSnake&) const = default;
};

/// A convolution over the rows of a sequence that looks back only; the whole sequence is one step,
/// and what is before its first row is 0. With k taps, as many as w has columns for each of x, in
/// the order of checkpoints:
///     y[t, o] = bias[o] + sum_c sum_j w[o, c * k + j] x'[t - (k - 1 - j) * dilation, c] (+ r[t,
///     o])
/// x' is x or, with `snake`, half_snake(x, a); `adds` says that there is an r.
///     (x [T, n], w [out, n*k], bias [out], a? [n/2], r? [T, out]) -> [T, out]
struct CausalConv {
  static constexpr std::string_view kName = "causal_conv";
  uint32_t dilation = 1;
  bool snake = false;
  bool adds = false;
  static void fields(auto& op, auto&& visit) {
    visit("dilation", op.dilation);
    visit("snake", op.snake);
    visit("adds", op.adds);
  }
  size_t r() const { return snake ? 4 : 3; }
  size_t operands() const { return r() + (adds ? 1 : 0); }
  bool operator==(const CausalConv&) const = default;
};

/// An op that makes rows of one, in groups of columns: a transposed convolution of 2 * rate taps
/// and a stride of rate, whose results before the sequence's end count. It looks back, too, by one
/// row, and the whole sequence is one step. A row of y holds `rate` rows of `out` columns, one
/// after another; out[j] has the n / out columns of x from j * (n / out) on:
///     y[t, p * out + j] = bias[j] + sum_c w[c, p] x[t, c] + w[c, p + rate] x[t-1, c]
///     (x [T, n], w [n, 2*rate], bias [out]) -> [T, rate*out]
struct TransposedConv {
  static constexpr std::string_view kName = "transposed_conv";
  static void fields(auto&, auto&&) {}
  bool operator==(const TransposedConv&) const = default;
};

}  // namespace tokamak
