// The operations of the graph: what is computed, not how. One struct per op; its fields are its
// attributes, its shape rule is in shapes.cpp, and the text form is made from kName and fields().
//
// Activations are matrices [T, n] in f32 (library_ops.h has others), row-major: T is the number of
// rows of this step, tokens of one or more sequences, O the number of those whose results are
// wanted. Heads are no axis: [T, heads * head_dim]. Operand lists are (inputs) -> outputs.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "graph/activation.h"
#include "graph/collective_ops.h"
#include "graph/encoder_ops.h"
#include "graph/expert_ops.h"
#include "graph/fused_ops.h"
#include "graph/latent_ops.h"
#include "graph/library_ops.h"
#include "graph/lora_ops.h"
#include "graph/recurrent_ops.h"
#include "graph/sampling_ops.h"
#include "graph/sound_ops.h"

namespace tokamak {

/// y[t, :] = scale * table[tokens[t], :]; tokens beyond the table are rows[(token - vocab) %
/// capacity, :].           (tokens u32 [T], table [vocab, n], rows? [capacity, n]) -> [T, n]
struct Embed {
  static constexpr std::string_view kName = "embed";
  float scale = 1;
  static void fields(auto& op, auto&& visit) { visit("scale", op.scale); }
  bool operator==(const Embed&) const = default;
};

/// y = x Wᵀ (+ bias)                            (x [T, in], w [out, in], bias? [out]) -> [T, out]
struct Linear {
  static constexpr std::string_view kName = "linear";
  static void fields(auto&, auto&&) {}
  bool operator==(const Linear&) const = default;
};

/// Normalises each group of n neighbours: y = x * rsqrt(mean(x²) + eps) * w.
///                                              (x [T, k*n], w [n]) -> [T, k*n]
struct RmsNorm {
  static constexpr std::string_view kName = "rms_norm";
  float eps = 0;
  static void fields(auto& op, auto&& visit) { visit("eps", op.eps); }
  bool operator==(const RmsNorm&) const = default;
};

/// (a [T, n], b [T, n]) -> [T, n]
struct Add {
  static constexpr std::string_view kName = "add";
  static void fields(auto&, auto&&) {}
  bool operator==(const Add&) const = default;
};

/// y = factor * s[0] * x                        (x [T, n], s? [1]) -> [T, n]
struct Scale {
  static constexpr std::string_view kName = "scale";
  float factor = 1;
  static void fields(auto& op, auto&& visit) { visit("factor", op.factor); }
  bool operator==(const Scale&) const = default;
};

/// y = (1 + beta ln(1 + floor((position + shift) / period))) x, period above 0 (the temperature of
/// Llama 4's and Ministral 3's queries)          (x [T, n]) -> [T, n]
struct PositionScale {
  static constexpr std::string_view kName = "position_scale";
  float beta = 0;
  uint32_t period = 1, shift = 0;
  static void fields(auto& op, auto&& visit) {
    visit("beta", op.beta);
    visit("period", op.period);
    visit("shift", op.shift);
  }
  bool operator==(const PositionScale&) const = default;
};

/// y = cap * tanh(x / cap)                      (x [T, n]) -> [T, n]
struct Softcap {
  static constexpr std::string_view kName = "softcap";
  float cap = 1;
  static void fields(auto& op, auto&& visit) { visit("cap", op.cap); }
  bool operator==(const Softcap&) const = default;
};

/// y = activation(gate) * up[first:first + n]    (gate [T, n], up [T, m]) -> [T, n]
struct Glu {
  static constexpr std::string_view kName = "glu";
  Activation activation = Activation::kSilu;
  uint32_t first = 0;
  static void fields(auto& op, auto&& visit) {
    visit("activation", op.activation);
    visit("first", op.first);
  }
  bool operator==(const Glu&) const = default;
};

/// Rotates halves: within each head, (x[i], x[i + d/2]) turns by the angle of the table's row for
/// the position (and Slot::rotary_shift), which holds d/2 cosines, then d/2 sines (RoFormer,
/// arXiv:2104.09864); with a table [T, d], an input, by the step's own row. Elements beyond d are
/// copied. When the sequence is longer than short_rows (Slot::length), the row is that many further
/// down: the table's second part.               (x [T, k*head_dim], table [rows, d]) -> same
struct Rope {
  static constexpr std::string_view kName = "rope";
  uint32_t head_dim = 0;
  uint32_t short_rows = 0;  // 0: one part
  static void fields(auto& op, auto&& visit) {
    visit("head_dim", op.head_dim);
    visit("short_rows", op.short_rows);
  }
  bool operator==(const Rope&) const = default;
};

/// Writes this step's keys and values into the cache, at the cells that the sequence's page table
/// gives for their positions. The result is the same memory as `cache`.
///     (k [T, kv*d], v [T, kv*d], cache of graph/kv_cache.h, pages u32 [P]) -> cache
struct KvAppend {
  static constexpr std::string_view kName = "kv_append";
  static void fields(auto&, auto&&) {}
  bool operator==(const KvAppend&) const = default;
};

/// Attention over the cache: softmax(softcap(scale * q kᵀ)) v, query head h reading key head
/// h / (heads / kv). Causal: a position sees itself and what is before it, with a window of w > 0
/// the last w of those, in `chunks` those from a multiple of w on. Otherwise it sees every position
/// of the step, with a window those less than w away; the sequence is one step then. A bias is
/// added to the score of a key that is j - i positions after the query: bias[r + clamp(j - i, -r,
/// r), h]. With ends instead, row t sees what is before ends[t], too; not causal, that alone, of
/// any sequence; with spans from spans[t, 0] to before spans[t, 1], which never fall. Sinks instead
/// are a further key of each head, of that score and value 0. `rounded`: as by to_half. (q [T,
/// heads*d], cache, pages u32[P], bias? [2*r + 1, heads], ends?, spans? u32[T, 2], sinks?) -> q
struct Attention {
  static constexpr std::string_view kName = "attention";
  float scale = 1;
  uint32_t window = 0;  // 0: all positions
  bool chunks = false;
  float softcap = 0;  // 0: none
  bool causal = true;
  Half rounded = Half::kNone;
  static void fields(auto& op, auto&& visit) {
    visit("scale", op.scale);
    visit("window", op.window);
    visit("chunks", op.chunks);
    visit("softcap", op.softcap);
    visit("causal", op.causal);
    visit("rounded", op.rounded);
  }
  bool operator==(const Attention&) const = default;
};

/// Causal convolution over time, each column by itself:
/// y[t, c] = activation(bias[c] + sum_j w[c, j] x[t - (k-1) + j, c]). The state holds the k-1 rows
/// of x before this step, oldest first, and is changed to those before the next; at position
/// 0 they count as zeros, whatever it holds. `gated`: a row is g, h, z of n columns each, x is g z,
/// and the result is h y.
///     (x [T, n] or [T, 3*n], w [n, k], state [k-1, n], bias? [n]) -> [T, n], state
struct ShortConv {
  static constexpr std::string_view kName = "short_conv";
  Activation activation = Activation::kIdentity;
  bool gated = false;
  static void fields(auto& op, auto&& visit) {
    visit("activation", op.activation);
    visit("gated", op.gated);
  }
  bool operator==(const ShortConv&) const = default;
};

/// Columns first .. first + count - 1           (x [T, n]) -> [T, count]
struct Columns {
  static constexpr std::string_view kName = "columns";
  uint32_t first = 0;
  uint32_t count = 1;
  static void fields(auto& op, auto&& visit) {
    visit("first", op.first);
    visit("count", op.count);
  }
  bool operator==(const Columns&) const = default;
};

/// y[t, c] = x[t, order[c]]                     (x [T, n], order u32[n]) -> [T, n]
struct GatherColumns {
  static constexpr std::string_view kName = "gather_columns";
  static void fields(auto&, auto&&) {}
  bool operator==(const GatherColumns&) const = default;
};

/// The rows that are wanted: of each slot the last one, unless the batch says otherwise.
///                                              (x [T, n]) -> [O, n]
struct LastRow {
  static constexpr std::string_view kName = "last_row";
  static void fields(auto&, auto&&) {}
  bool operator==(const LastRow&) const = default;
};

using Op = std::variant<
    Embed, Linear, RmsNorm, Add, Scale, Softcap, Glu, Rope, KvAppend, Attention, ShortConv,
    GatedDelta, SelectiveScan, Route, ExpertLinear, ExpertSum, ExpertColumns, Columns,
    GatherColumns, LayerNorm, Activate, AddPositions, FirstRow, MeanRows, Unfold, GroupNorm, Clamp,
    Standardize, HalfSnake, CausalConv, TransposedConv, LastRow, BlockArgmax, NextToken,
    BlockMaxima, TopKBlocks, TopKTokens, SampleToken, AddRmsNorm, FusedNorm, NormAdd, Qkv,
    SplitLinear, LinearGlu, FusedLinear, GatedFfn, StepAttention, RopeAppend, ExpertGlu, ExpertMix,
    ToHalf, HalfLinear, PairGlu, GatedHalf, LoraDown, LoraUp, PositionScale, HeadLinear,
    LatentAppend, LatentAttention, MergeSplits, AllReduce, AllReduceNorm, AllGather, AllNorm>;

/// The index of alternative T in Op: how patterns and kernel tables name an op without attributes.
template <typename T, size_t kIndex = 0>
constexpr size_t op_index() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<kIndex, Op>>) {
    return kIndex;
  } else {
    return op_index<T, kIndex + 1>();
  }
}

/// The name of the alternative at `index`.
template <size_t... kIndices>
constexpr std::string_view op_name_at(size_t index, std::index_sequence<kIndices...>) {
  constexpr std::string_view kNames[] = {std::variant_alternative_t<kIndices, Op>::kName...};
  return kNames[index];
}
constexpr std::string_view op_name_at(size_t index) {
  return op_name_at(index, std::make_index_sequence<std::variant_size_v<Op>>());
}

/// Whether ranks work together in it.
inline bool is_collective(const Op& op) {
  return std::holds_alternative<AllReduce>(op) || std::holds_alternative<AllReduceNorm>(op) ||
         std::holds_alternative<AllGather>(op) || std::holds_alternative<AllNorm>(op);
}

/// The number of experts in the matrix that is an op's second operand; 0 for other ops.
inline uint32_t experts_of(const Op& op) {
  return std::visit(
      [](const auto& o) -> uint32_t {
        if constexpr (requires { o.experts; }) return o.experts;
        return 0;
      },
      op);
}

inline std::string_view op_name(const Op& op) {
  return std::visit([](const auto& o) { return o.kName; }, op);
}

}  // namespace tokamak
