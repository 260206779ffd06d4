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

/// What a fused linear makes of x before the product: x' is
///   none            x
///   norm            rms_norm(x, w)
///   norm_add_norm   rms_norm(s, w) with s = a + rms_norm(x, u), which is an output, too
///   merge_splits    the whole attention of the splits that x holds; see StepAttention
enum class Before : uint8_t { kNone, kNorm, kNormAddNorm, kMergeSplits };
inline constexpr std::string_view kBeforeNames[] = {"none", "norm", "norm_add_norm",
                                                    "merge_splits"};

/// What it makes of y = x' Wᵀ + bias:
///   none     y
///   glu      activation(even columns) * odd columns
///   add      r + y
///   argmax   the best of softcap(y), block by block; see BlockArgmax
enum class Behind : uint8_t { kNone, kGlu, kAdd, kArgmax };
inline constexpr std::string_view kBehindNames[] = {"none", "glu", "add", "argmax"};

/// A linear with what a decoder has before and behind it, for few tokens: no workgroup needs more
/// than x to prepare it, so that what is before costs no pass of its own.
///     (x [T, in or as `before` says], W [out, in], bias? [out], a? [T, in], u? [in], w? [in],
///      r? [T, out]) -> [T, out, or as `behind` says], s? [T, in]
struct FusedLinear {
  static constexpr std::string_view kName = "fused_linear";
  Before before = Before::kNone;
  Behind behind = Behind::kNone;
  bool bias = false;
  float eps = 0;                              // of the norms
  uint32_t splits = 0;                        // merge_splits
  Activation activation = Activation::kSilu;  // glu
  float softcap = 0;                          // argmax; 0: none
  static void fields(auto& op, auto&& visit) {
    visit("before", op.before);
    visit("behind", op.behind);
    visit("bias", op.bias);
    visit("eps", op.eps);
    visit("splits", op.splits);
    visit("activation", op.activation);
    visit("softcap", op.softcap);
  }
  bool operator==(const FusedLinear&) const = default;

  bool norms() const { return before == Before::kNorm || before == Before::kNormAddNorm; }
  // Operands that are there, by number.
  size_t a() const { return 2 + size_t{bias}; }
  size_t u() const { return a() + 1; }
  size_t w() const { return before == Before::kNorm ? a() : a() + 2; }
  size_t r() const {
    return a() + (before == Before::kNorm ? 1 : before == Before::kNormAddNorm ? 3 : 0);
  }
};

/// All that attention does between its two products, for one token: norms of heads, rotation, the
/// append, and attention itself. A row holds heads queries, and with `appends` as many keys and
/// then values as the cache has heads; norms the weights for a query, then for a key. With splits
/// above 1 the keys are dealt to so many parts, and the result is unfinished: a row holds the sums
/// of each part, one after the other, then of each part and head the largest score and the total.
///     (row [T, (heads + 2 kv) d] or [T, heads*d], table [rows, rotary], cache [slots, 2, kv, d],
///      pages u32[P], norms? [2*d] or [d])
///      -> [T, heads*d] or [T, splits*heads*(d + 2)], cache if it appends
struct StepAttention {
  static constexpr std::string_view kName = "step_attention";
  uint32_t heads = 0;
  bool appends = true;
  bool norm_v = false;  // values are normed, too, without a weight
  float eps = 0;        // of the norms
  float scale = 1;
  uint32_t window = 0;
  float softcap = 0;
  uint32_t short_rows = 0;  // of the rotary table; see Rope
  uint32_t splits = 1;
  static void fields(auto& op, auto&& visit) {
    visit("heads", op.heads);
    visit("appends", op.appends);
    visit("norm_v", op.norm_v);
    visit("eps", op.eps);
    visit("scale", op.scale);
    visit("window", op.window);
    visit("softcap", op.softcap);
    visit("short_rows", op.short_rows);
    visit("splits", op.splits);
  }
  bool operator==(const StepAttention&) const = default;
};

}  // namespace tokamak
