// Attention to latents in several parts of the positions, which a launch of its own merges.
//
//   y = latent_attention ...   ==>   p = latent_attention ... {splits=n}
//                                    y = merge_splits p
//
// Costs a dispatch, and fills the device: without parts, a step of one token of a sequence has a
// workgroup for some of its heads, which all read the same cells.
#include <algorithm>
#include <bit>

#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

/// Heads that a workgroup has by matrix units.
constexpr uint32_t kHeads = 16;

/// Parts that fill the device, and few enough that merging them stays cheap.
uint32_t splits(uint32_t heads, uint32_t most, const Target& target) {
  const uint32_t blocks = (heads + kHeads - 1) / kHeads;
  return std::clamp(std::bit_floor(std::max(target.multiprocessors / blocks, 1u)), 4u, most);
}

/// At most `kMaxParts` parts.
template <uint32_t kMaxParts>
Pass split(std::string_view name, Steps steps) {
  enum : Var { ql, qr, cache, pages, y };
  return {
      .name = name,
      .patterns = {{node<LatentAttention>(y, {any(ql), any(qr), any(cache), any(pages)})}},
      .outputs = {y},
      .steps = steps,
      .fewest = steps,
      .replace = [](Match& m) -> std::optional<Replacement> {
        LatentAttention op = m.attributes<LatentAttention>(y);
        if (op.splits != 1 || !m.target().is_parallel) return std::nullopt;
        const Dim width = m.type(cache).shape[1];
        const uint32_t heads = uint32_t((m.type(ql).shape[1] + m.type(qr).shape[1]) / width);
        op.splits = splits(heads, kMaxParts, m.target());
        const ValueId parts = m.add_node(op, {m[ql], m[qr], m[cache], m[pages]}).front();
        return Replacement{MergeSplits{heads, op.splits}, {parts}};
      },
  };
}

}  // namespace

Pass split_latents() {
  return split<32>("split_latents", Steps::kOne);
}

/// Rows of several sequences fill a device with fewer parts each.
Pass batch_latents() {
  return split<16>("batch_latents", Steps::kDecode);
}

}  // namespace tokamak::fuse
