// The ops between the products of attention and attention itself in steps of many rows; see
// fuse/rope_append.cpp. Steps of one token have StepAttention.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// Norms of heads, rotation as by rope, and the append of kv_append. A row begins with heads
/// queries, and with `appends` as many keys and then values as the cache has heads, unless
/// `k_is_v`: values are the same columns as keys, before norm and rotation. Queries and keys are
/// normed where there are norms, the weights for a query and then for a key; values with `norm_v`,
/// without weights. Without `appends` attention reads the cache of another layer. Columns come in
/// fours.
///     (row [T, at least (heads + 2 kv) d, (heads + kv) d or heads*d], table [rows, rotary],
///      cache [cells, 2, kv, d] and pages u32 [P] if it appends, norms? [2*d] or [d])
///      -> [T, heads*d], cache if it appends
struct RopeAppend {
  static constexpr std::string_view kName = "rope_append";
  /// The kernels take a head in parts of kPart elements, up to kMaxHeadDim, and turn such parts.
  static constexpr int64_t kPart = 8, kMaxHeadDim = 512;
  uint32_t heads = 0;
  uint32_t head_dim = 0;
  uint32_t short_rows = 0;  // see Rope
  bool appends = true;
  bool k_is_v = false;
  bool norm_v = false;
  float eps = 0;  // of the norms
  static void fields(auto& op, auto&& visit) {
    visit("heads", op.heads);
    visit("head_dim", op.head_dim);
    visit("short_rows", op.short_rows);
    visit("appends", op.appends);
    visit("k_is_v", op.k_is_v);
    visit("norm_v", op.norm_v);
    visit("eps", op.eps);
  }
  bool operator==(const RopeAppend&) const = default;

  // Operands, by number; norms where there are as many.
  static constexpr size_t kTable = 1, kCache = 2, kPages = 3;
  size_t norms() const { return appends ? 4 : 2; }
};

}  // namespace tokamak
