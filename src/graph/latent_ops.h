// Ops of attention to latents: the keys and values of all heads are products of one short row for
// each position, and only that row is cached (arXiv:2405.04434). The products are moved to the
// query and to the result (absorbed), so that every head attends to the rows themselves.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// A product per head: y[t, h] = x[t, h] W[h]ᵀ, or with `transposed` x[t, h] W[h]. W has the rows
/// of head 0, then of head 1, ...
///     (x [T, heads*in], w [heads*out, in], or transposed [heads*in, out]) -> [T, heads*out]
struct HeadLinear {
  static constexpr std::string_view kName = "head_linear";
  uint32_t heads = 1;
  bool transposed = false;
  static void fields(auto& op, auto&& visit) {
    visit("heads", op.heads);
    visit("transposed", op.transposed);
  }
  bool operator==(const HeadLinear&) const = default;
};

/// Writes this step's rows into the cache, at the cells that the sequence's page table gives for
/// their positions: the latent, then the part of the keys that turns, which all heads share. The
/// result is the same memory as `cache`.
///     (latent [T, rank], turned [T, d], cache [cells, rank + d], pages u32 [P]) -> cache
struct LatentAppend {
  static constexpr std::string_view kName = "latent_append";
  uint32_t rank = 0;
  static void fields(auto& op, auto&& visit) { visit("rank", op.rank); }
  bool operator==(const LatentAppend&) const = default;
};

/// Causal attention to all positions of the cache, whose latents are keys and values:
/// softmax(scale * (ql · latent + qr · turned)) latent for every head. With splits above 1 the
/// positions are divided into that many parts, and the result is unfinished, as StepAttention's is.
///     (ql [T, heads*rank], qr [T, heads*d], cache [cells, rank + d], pages u32 [P])
///     -> [T, heads*rank] or [T, splits*heads*(rank + 2)]
struct LatentAttention {
  static constexpr std::string_view kName = "latent_attention";
  float scale = 1;
  uint32_t splits = 1;
  static void fields(auto& op, auto&& visit) {
    visit("scale", op.scale);
    visit("splits", op.splits);
  }
  bool operator==(const LatentAttention&) const = default;
};

}  // namespace tokamak
