// Ops that remember a matrix per head.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// The gated delta rule (arXiv:2412.06464), a step per token and value head. Value head h reads key
/// head h / (heads / key_heads), or with `tiled` h % key_heads:
///     q, k = l2norm(q) / sqrt(dk), l2norm(k)         l2norm(x) = x rsqrt(sum x² + 1e-6)
///     S    = exp(-exp(log_rate) softplus(a + bias)) S
///     S    = S + k (sigmoid(b) (v - kᵀ S))ᵀ
///     y    = qᵀ S
/// A row of qkv begins with key_heads q, then as many k, each of dk, then heads v of dv; a row of
/// ab ends in the heads' a, then their b; rates are the log_rate (with `negated` -exp of it), then
/// the bias. The state is S,
/// zero at position 0 whatever it holds.
///     (qkv [T, at least 2*key_heads*dk + heads*dv], ab [T, at least 2*heads], rates [2, heads],
///      state [heads, dk, dv]) -> [T, heads*dv], state
struct GatedDelta {
  static constexpr std::string_view kName = "gated_delta";
  uint32_t key_heads = 0;
  bool tiled = false;
  bool negated = false;
  static void fields(auto& op, auto&& visit) {
    visit("key_heads", op.key_heads);
    visit("tiled", op.tiled);
    visit("negated", op.negated);
  }
  bool operator==(const GatedDelta&) const = default;
};

/// The selective scan of Mamba-2 (arXiv:2405.21060), a step per token and head. Head h reads B and
/// C of group h / (heads / groups):
///     delta = clamp(softplus(dt_factor dt + bias), low, high)
///     S     = exp(-exp(A_log) delta) S + B (delta x)ᵀ
///     y     = Cᵀ S + D x
/// A row of xbc begins with the heads' x of p each, then as many B as groups, then as many C, each
/// of n; a row of dt ends in the heads' dt; params are the A_log (with `negated` -exp of it), the
/// bias and D. The state is S, zero at position 0 whatever it holds.
///     (xbc [T, at least heads*p + 2*groups*n], dt [T, at least heads], params [3, heads],
///      state [heads, n, p]) -> [T, heads*p], state
struct SelectiveScan {
  static constexpr std::string_view kName = "selective_scan";
  uint32_t groups = 1;
  bool negated = false;
  float dt_factor = 1;
  float low = 0;
  float high = 0;  // 0: none
  static void fields(auto& op, auto&& visit) {
    visit("groups", op.groups);
    visit("negated", op.negated);
    visit("dt_factor", op.dt_factor);
    visit("low", op.low);
    visit("high", op.high);
  }
  bool operator==(const SelectiveScan&) const = default;
};

}  // namespace tokamak
