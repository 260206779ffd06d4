// Fused ops: made by the passes in fuse/, named after their parts in data order. Each has its
// unfused definition in the pass that makes it.
#pragma once
#include <cstdint>
#include <string_view>

#include "graph/activation.h"
#include "graph/fused_norm.h"
#include "graph/rope_append.h"

namespace tokamak {

/// sum = a + b; norm = rms_norm(sum, w)         (a [T, n], b [T, n], w [n]) -> sum, norm
struct AddRmsNorm {
  static constexpr std::string_view kName = "add_rms_norm";
  float eps = 0;
  uint32_t parts = 1;  // of SplitLinear, in the first operand
  static void fields(auto& op, auto&& visit) {
    visit("eps", op.eps);
    visit("parts", op.parts);
  }
  bool operator==(const AddRmsNorm&) const = default;
};

/// A linear whose columns are in equal parts, each of which gives its own sum: who reads them adds
/// them up. For steps of several rows, where a matrix of few rows would leave most of the device
/// idle.                          (x [T, in], w [out, in]) -> [T, parts * out], part after part
struct SplitLinear {
  static constexpr std::string_view kName = "split_linear";
  uint32_t parts = 1;
  static void fields(auto& op, auto&& visit) { visit("parts", op.parts); }
  bool operator==(const SplitLinear&) const = default;
};

/// Two to four linears of one input; w and bias are the concatenated rows. The last one has what
/// the others leave: the fourth where v_rows is not 0, the second where nothing is left for a
/// third.
///     (x [T, in], w [q+k+v+g, in], bias? [q+k+v+g]) -> [T, q], [T, k], [T, v]?, [T, g]?
struct Qkv {
  static constexpr std::string_view kName = "qkv";
  uint32_t q_rows = 0;
  uint32_t k_rows = 0;
  uint32_t v_rows = 0;
  static void fields(auto& op, auto&& visit) {
    visit("q_rows", op.q_rows);
    visit("k_rows", op.k_rows);
    visit("v_rows", op.v_rows);
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

/// The x' that a fused linear makes of x before the product: x' is
///   none            x
///   norm            rms_norm(x, w)
///   norm_add        s = a + rms_norm(x, w), which is an output, too
///   norm_add_norm   rms_norm(s, v) with the same s; w holds the weights of both norms
///   merge_splits    the whole attention of the splits that x holds; see StepAttention
///   head_norm       rms_norm(x, w), each head of the columns that w has by itself
///   layer_norm      layer_norm(x, w, bias); w holds the weights, and the bias after them, if any
/// `scaled`: s is k[0] times that. `gated`: x' is activation(g) times that, where g are the columns
/// from `first` on of an operand.
enum class Prologue : uint8_t {
  kNone,
  kNorm,
  kNormAdd,
  kNormAddNorm,
  kMergeSplits,
  kHeadNorm,
  kLayerNorm
};
inline constexpr std::string_view kPrologueNames[] = {
    "none", "norm", "norm_add", "norm_add_norm", "merge_splits", "head_norm", "layer_norm"};

/// The result that it makes of y = x' Wᵀ + bias:
///   none     y
///   glu      activation(even columns) * odd columns
///   add      r + y
///   argmax   the best of softcap(y), block by block; see BlockArgmax
///   gate     activation(y) * r, with the columns of r from `first` on
///   conv     y, its first columns convolved; see ShortConv, whose w is r and whose state follows
enum class Epilogue : uint8_t { kNone, kGlu, kAdd, kArgmax, kGate, kConv };
inline constexpr std::string_view kEpilogueNames[] = {"none",   "glu",  "add",
                                                      "argmax", "gate", "conv"};

/// The kernels of fused linears read the rows of a matrix in parts of that many columns.
inline constexpr int64_t kColumnsAtOnce = 8;

/// A linear with what a decoder has before and after it, for few tokens: no workgroup needs more
/// than x to prepare it, so that what is before costs no pass of its own. Only one of `gated` and
/// an ending with an activation; `first` is a multiple of 4 when gated. x and the r of add may be
/// fixed-point sums, i32[T, 2*columns] (graph/fixed_point_sums.h), x only before none, norm,
/// norm_add and norm_add_norm.
///     (x [T, in or as `before` says], W [out, in], bias? [out], a? [T, in], w? [in], [2*in] or
///      [head], k? [1], g? [T, columns], r? [T, out], [T, columns] or [n, taps],
///      state? [taps-1, n])
///      -> [T, out, or as `after` says], s? [T, in], state?, cleared? i32[T, 2*out]
struct FusedLinear {
  static constexpr std::string_view kName = "fused_linear";
  /// Limits head_norm, which holds their factors in workgroup memory.
  static constexpr int64_t kMaxHeads = 256;
  Prologue prologue = Prologue::kNone;
  Epilogue epilogue = Epilogue::kNone;
  bool bias = false;
  float eps = 0;                              // of the norms
  uint32_t splits = 0;                        // merge_splits
  Activation activation = Activation::kSilu;  // of the gate, glu or conv
  float softcap = 0;                          // argmax; 0: none
  bool scaled = false;                        // norm_add, norm_add_norm
  bool gated = false;                         // none, merge_splits, head_norm
  uint32_t first = 0;                         // gated or gate: where the columns begin
  bool clears = false;                        // none or add: makes a row of fixed-point sums, all 0
  static void fields(auto& op, auto&& visit) {
    visit("prologue", op.prologue);
    visit("epilogue", op.epilogue);
    visit("bias", op.bias);
    visit("eps", op.eps);
    visit("splits", op.splits);
    visit("activation", op.activation);
    visit("softcap", op.softcap);
    visit("scaled", op.scaled);
    visit("gated", op.gated);
    visit("first", op.first);
    visit("clears", op.clears);
  }
  bool operator==(const FusedLinear&) const = default;

  /// Whether s is an operand's sum with a norm, and an output.
  bool adds() const { return prologue == Prologue::kNormAdd || prologue == Prologue::kNormAddNorm; }
  bool norms() const {
    return adds() || prologue == Prologue::kNorm || prologue == Prologue::kHeadNorm ||
           prologue == Prologue::kLayerNorm;
  }
  /// Whether what is before reads x as it is and more than once: no fixed-point sums.
  bool looks_ahead() const {
    return prologue == Prologue::kMergeSplits || prologue == Prologue::kHeadNorm ||
           prologue == Prologue::kLayerNorm;
  }
  // Operands that are there, by number.
  size_t a() const { return 2 + size_t{bias}; }
  size_t w() const { return a() + size_t{adds()}; }
  size_t k() const { return w() + size_t{norms()}; }
  size_t g() const { return k() + size_t{scaled}; }
  size_t r() const { return g() + size_t{gated}; }
  size_t state() const { return r() + 1; }
  size_t operands() const {
    return epilogue == Epilogue::kConv                                 ? state() + 1
           : epilogue == Epilogue::kAdd || epilogue == Epilogue::kGate ? r() + 1
                                                                       : r();
  }
};

/// A gated feed-forward network for one token: y = glu of a fused linear, z = y Dᵀ, or x + that, as
/// fixed-point sums. They are added to a row of sums, all 0, that nothing else reads.
///     (what the glu takes, D [n, out / 2], sums i32[T, 2*n]) -> i32[T, 2*n], s? [T, in]
struct GatedFfn {
  static constexpr std::string_view kName = "gated_ffn";
  FusedLinear glu = {.epilogue = Epilogue::kGlu};  // without a bias
  bool adds_x = false;
  static void fields(auto& op, auto&& visit) {
    FusedLinear::fields(op.glu, visit);
    visit("adds_x", op.adds_x);
  }
  bool operator==(const GatedFfn&) const = default;

  // Operands, by number.
  size_t d() const { return glu.operands(); }
  size_t sums() const { return d() + 1; }
};

/// All that attention does between its two products, for one token: norms of heads, rotation, the
/// append, and attention itself. A row begins with heads queries, and with `appends` as many keys
/// and then values as the cache has heads, unless `k_is_v`: values are the same columns as keys,
/// before norm and rotation. norms has the weights for a query, then for a key. With splits above 1
/// the keys are divided into that many parts, and the result is unfinished: a row holds the sums of
/// each part, one after the other, then of each part and head the base that its weights count from
/// (its largest score, or one near it) and their total.
///     (row [T, at least (heads + 2 kv) d, (heads + kv) d or heads*d], table [rows, rotary], cache
///     [cells, 2, kv, d],
///      pages u32[P], norms? [2*d] or [d])
///      -> [T, heads*d] or [T, splits*heads*(d + 2)], cache if it appends
struct StepAttention {
  static constexpr std::string_view kName = "step_attention";
  /// The kernels take a head in parts of kPart elements, up to kMaxHeadDim.
  static constexpr int64_t kPart = 8, kMaxHeadDim = 512;
  /// Splits of steps far into a text.
  static constexpr uint32_t kLongContextSplits = 16;
  uint32_t heads = 0;
  bool appends = true;
  bool k_is_v = false;
  bool norm_v = false;  // values are normed, too, without a weight
  float eps = 0;        // of the norms
  float scale = 1;
  uint32_t window = 0;
  bool chunks = false;
  float softcap = 0;
  uint32_t short_rows = 0;  // of the rotary table; see Rope
  uint32_t splits = 1;
  uint32_t parts = 1;  // of SplitLinear, in the row: each has all of its columns
  static void fields(auto& op, auto&& visit) {
    visit("heads", op.heads);
    visit("appends", op.appends);
    visit("k_is_v", op.k_is_v);
    visit("norm_v", op.norm_v);
    visit("eps", op.eps);
    visit("scale", op.scale);
    visit("window", op.window);
    visit("chunks", op.chunks);
    visit("softcap", op.softcap);
    visit("short_rows", op.short_rows);
    visit("splits", op.splits);
    visit("parts", op.parts);
  }
  bool operator==(const StepAttention&) const = default;
};

/// The whole attention of the parts that an unfinished one gives; see StepAttention.
///     (x [T, splits*heads*(d + 2)]) -> [T, heads*d]
struct MergeSplits {
  static constexpr std::string_view kName = "merge_splits";
  uint32_t heads = 1;
  uint32_t splits = 2;
  static void fields(auto& op, auto&& visit) {
    visit("heads", op.heads);
    visit("splits", op.splits);
  }
  bool operator==(const MergeSplits&) const = default;
};

}  // namespace tokamak
