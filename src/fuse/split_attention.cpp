// Keys in several splits, which the product that follows merges as it prepares its x.
//
//   y, cache = step_attention ...           p, cache = step_attention ... {splits=n}
//   z = linear y, w                  ==>    z = fused_linear p, w {prologue=merge_splits, splits=n}
//
// and the same where a gate is before the product. Saves no dispatch, but fills the device: without
// splits a step has a workgroup for each head.
#include <algorithm>
#include <bit>

#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { row, table, cache, pages, norms, appended, y, w, third, z };

/// Splits that give long contexts workgroups enough, and are few enough that merging them stays
/// cheap: each workgroup of the product that follows reads that many times its columns.
uint32_t splits(Dim columns) {
  return std::clamp(std::bit_floor(uint32_t(24576 / columns)), 4u, 8u);
}

std::optional<Replacement> replace_split_attention(Match& m) {
  FusedLinear merge;
  if (const auto* fused = m.as<FusedLinear>(z)) {
    if (fused->prologue != Prologue::kNone || !fused->gated) return std::nullopt;
    merge = *fused;
  } else if (!fits_fused_linear(m.type(w))) {
    return std::nullopt;
  } else {
    merge.bias = m.has(third);
  }
  StepAttention op = m.attributes<StepAttention>(y);
  if (op.splits != 1) return std::nullopt;
  op.splits = splits(m.type(w).shape[1]);
  std::vector<ValueId> inputs = {m[row], m[table], m[cache], m[pages]};
  if (m.has(norms)) inputs.push_back(m[norms]);
  std::map<size_t, Var> made;
  if (m.has(appended)) made[1] = appended;
  const ValueId parts = m.add_node(op, std::move(inputs), std::move(made)).front();
  merge.prologue = Prologue::kMergeSplits;
  merge.splits = op.splits;
  Replacement product{merge, {parts, m[w]}};
  if (m.has(third)) product.inputs.push_back(m[third]);
  return product;
}

}  // namespace

Pass split_attention() {
  std::vector<std::vector<Pattern>> patterns;
  const std::vector<Pattern> plain = {any(row), any(table), any(cache), any(pages)};
  const std::vector<Pattern> normed = {any(row), any(table), any(cache), any(pages), any(norms)};
  // With the cache as an output first: a pattern without it matches those, too.
  for (const std::vector<Var>& others : {std::vector<Var>{appended}, std::vector<Var>{}}) {
    for (const std::vector<Pattern>& inputs : {plain, normed}) {
      const Pattern attention = node<StepAttention>(y, inputs, others);
      patterns.push_back({node<Linear>(z, {attention, any(w)})});
      patterns.push_back({node<Linear>(z, {attention, any(w), any(third)})});
      patterns.push_back({node<FusedLinear>(z, {attention, any(w), any(third)})});
    }
  }
  return {.name = "split_attention",
          .patterns = std::move(patterns),
          .outputs = {z, appended},
          .steps = Steps::kOne,
          .replace = replace_split_attention};
}

}  // namespace tokamak::fuse
