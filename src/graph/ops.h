// The operations of the graph: what is computed, not how. One struct per op; its fields are its
// attributes, its shape rule is in shapes.cpp, and the text form is made from kName and fields().
//
// Activations are always matrices [T, n] in f32, row-major: T is the number of tokens of this step.
// Heads are not an axis: [T, heads * head_dim]. Operand lists are written (inputs) -> outputs.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace tokamak {

enum class Activation : uint8_t { kSilu, kGeluTanh };

/// y[t, :] = scale * table[tokens[t], :]        (tokens u32 [T], table [vocab, n]) -> [T, n]
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

/// y = factor * x                               (x [T, n]) -> [T, n]
struct Scale {
  static constexpr std::string_view kName = "scale";
  float factor = 1;
  static void fields(auto& op, auto&& visit) { visit("factor", op.factor); }
  bool operator==(const Scale&) const = default;
};

/// y = cap * tanh(x / cap)                      (x [T, n]) -> [T, n]
struct Softcap {
  static constexpr std::string_view kName = "softcap";
  float cap = 1;
  static void fields(auto& op, auto&& visit) { visit("cap", op.cap); }
  bool operator==(const Softcap&) const = default;
};

/// y = activation(gate) * up                    (gate [T, n], up [T, n]) -> [T, n]
struct Glu {
  static constexpr std::string_view kName = "glu";
  Activation activation = Activation::kSilu;
  static void fields(auto& op, auto&& visit) { visit("activation", op.activation); }
  bool operator==(const Glu&) const = default;
};

/// Rotates halves: within each head, (x[i], x[i + d/2]) turns by the angle of row frame.position +
/// t of the table, which holds d/2 cosines, then d/2 sines (RoFormer, arXiv:2104.09864; halves as
/// transformers' rotate_half). Elements beyond d are copied. When the sequence is longer than
/// short_rows (frame.length), the row is that many further down: the table's second part.
///                                              (x [T, k*head_dim], table [rows, d]) -> same
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

/// Writes this step's keys and values into the cache, at the slots the page table gives for
/// positions frame.position + t. The result is the same memory as `cache`.
///     (k [T, kv*d], v [T, kv*d], cache [slots, 2, kv, d], pages u32 [P]) -> cache
struct KvAppend {
  static constexpr std::string_view kName = "kv_append";
  static void fields(auto&, auto&&) {}
  bool operator==(const KvAppend&) const = default;
};

/// Causal attention over the cache: softmax(softcap(scale * q kᵀ)) v, query head h reading key head
/// h / (heads / kv). A window of w > 0 sees the last w positions, its own included.
///     (q [T, heads*d], cache [slots, 2, kv, d], pages u32 [P]) -> [T, heads*d]
struct Attention {
  static constexpr std::string_view kName = "attention";
  float scale = 1;
  uint32_t window = 0;  // 0: all positions
  float softcap = 0;    // 0: none
  static void fields(auto& op, auto&& visit) {
    visit("scale", op.scale);
    visit("window", op.window);
    visit("softcap", op.softcap);
  }
  bool operator==(const Attention&) const = default;
};

/// The row of the step's last token              (x [T, n]) -> [1, n]
struct LastRow {
  static constexpr std::string_view kName = "last_row";
  static void fields(auto&, auto&&) {}
  bool operator==(const LastRow&) const = default;
};

// Fused ops: made by the passes in fuse/, named after their parts in data order.

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

using Op = std::variant<Embed, Linear, RmsNorm, Add, Scale, Softcap, Glu, Rope, KvAppend, Attention,
                        LastRow, AddRmsNorm, Qkv, LinearGlu>;

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

inline std::string_view op_name(const Op& op) {
  return std::visit([](const auto& o) { return o.kName; }, op);
}

constexpr std::string_view activation_name(Activation activation) {
  return activation == Activation::kSilu ? "silu" : "gelu_tanh";
}

}  // namespace tokamak
