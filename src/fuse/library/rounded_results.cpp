// A result that only a rounding reads is rounded where it is made: attention's result, and products
// of the library in front of an activation or a gate.
//
//   y       = attention q, cache, pages    ==>   rounded = attention q, cache, pages {rounded}
//   rounded = to_half y
//
//   y       = half_linear x, w, bias             z       = half_linear x, w {rounded}
//   rounded = to_half y {activation}       ==>   rounded = to_half z, bias {activation}
//
//   y       = half_linear x, w                   z       = half_linear x, w {rounded}
//   rounded = pair_glu y                   ==>   rounded = pair_glu z
//
// Halves what the first writes and the second reads; of attention it saves a dispatch, too.
#include "fuse/library/library_passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { q, cache, pages, seen, attended, x, w, bias, product, rounded };

Replacement replace_attention(Match& m) {
  Attention op = m.attributes<Attention>(attended);
  op.rounded = m.attributes<ToHalf>(rounded).type;
  std::vector<ValueId> inputs = {m[q], m[cache], m[pages]};
  if (m.has(seen)) inputs.push_back(m[seen]);
  return {op, std::move(inputs)};
}

std::optional<Replacement> replace_rounded_results(Match& m) {
  const auto* rounds = m.as<ToHalf>(rounded);
  const bool is_copy = rounds != nullptr && rounds->activation == Activation::kIdentity;
  if (m.has(attended)) return is_copy ? std::optional(replace_attention(m)) : std::nullopt;
  HalfLinear op = m.attributes<HalfLinear>(product);
  if (op.rounded) return std::nullopt;
  // A part of the rows has a part of the numbers.
  if (m.has(bias) && m.type(bias).shape[0] != op.rows) return std::nullopt;
  op.rounded = true;
  const std::vector<ValueId> operands = {m[x], m[w]};
  if (is_copy && !m.has(bias)) return Replacement{op, operands};
  std::vector<ValueId> inputs = m.add_node(op, operands);
  if (m.has(bias)) inputs.push_back(m[bias]);
  if (rounds != nullptr) return Replacement{*rounds, std::move(inputs)};
  return Replacement{m.attributes<PairGlu>(rounded), std::move(inputs)};
}

}  // namespace

Pass rounded_results() {
  Pass pass = {.name = "rounded_results",
               .patterns = {},
               .outputs = {rounded},
               .fewest = Steps::kMany,
               .replace = replace_rounded_results};
  const auto add = [&](Pattern one) { pass.patterns.push_back({std::move(one)}); };
  add(node<ToHalf>(rounded,
                   {node<Attention>(attended, {any(q), any(cache), any(pages), any(seen)})}));
  add(node<ToHalf>(rounded, {node<Attention>(attended, {any(q), any(cache), any(pages)})}));
  add(node<ToHalf>(rounded, {node<HalfLinear>(product, {any(x), any(w), any(bias)})}));
  add(node<ToHalf>(rounded, {node<HalfLinear>(product, {any(x), any(w)})}));
  add(node<PairGlu>(rounded, {node<HalfLinear>(product, {any(x), any(w)})}));
  return pass;
}

}  // namespace tokamak::fuse
