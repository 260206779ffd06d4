// The products of a step over a prompt by a vendor's library, which multiplies bf16 or f16.
//
//                            r = to_half x
//   y = linear x, w    ==>   y = half_linear r, w {rows}
//
// and each part of a qkv alike; with a bias, if there is one. Where an activation makes x, it is
// part of the rounding. Of the gated half of an MLP the product and the gate come apart,
// and the gate rounds what the product after it reads. Weights of other types are rounded in front
// of every product: that takes less than the product gains, for as many tokens as a prompt has.
// Costs dispatches, and reads and writes x once more.
#include <algorithm>

#include "fuse/library/library_passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, w, bias, q, k, v, g, gated, activated, down, down_bias, y };

/// Rows of a step with tokens, and a matrix of one type that is worth it: in eights, as the library
/// reads them.
bool fits(const Match& m, Var x, Var w) {
  const TensorDesc &rows = m.type(x), &matrix = m.type(w);
  const auto* weight = std::get_if<Weight>(&matrix.recipe);
  if (uint64_t(matrix.shape[0]) * uint64_t(matrix.shape[1]) < m.target().min_library_weights) {
    return false;
  }
  return rows.shape[0] == kTokens && matrix.shape[0] % 8 == 0 && matrix.shape[1] % 8 == 0 &&
         weight != nullptr && std::ranges::none_of(weight->parts, [](const WeightPart& part) {
           return part.dtype.has_value();
         });
}

ValueId in_half(Match& m, ValueId matrix) {
  const Half type = m.target().library_type;
  if (m.at(matrix).dtype == half_dtype(type)) return matrix;
  return m.add_node(ToHalf{.type = type}, {matrix}).front();
}

std::vector<ValueId> operands(Match& m, ValueId rounded, ValueId matrix, Var added) {
  std::vector<ValueId> all = {rounded, matrix};
  if (m.has(added)) all.push_back(m[added]);
  return all;
}

Replacement product(Match& m, ValueId rounded, Var matrix, Var added) {
  const uint32_t rows = uint32_t(m.type(matrix).shape[0]);
  return {HalfLinear{0, rows}, operands(m, rounded, in_half(m, m[matrix]), added)};
}

std::optional<Replacement> replace_qkv(Match& m) {
  const auto& op = m.attributes<Qkv>(q);
  const uint32_t all = uint32_t(m.type(w).shape[0]);
  std::vector<std::pair<Var, uint32_t>> parts = {{q, op.q_rows}, {k, op.k_rows}};
  if (m.has(v)) parts.push_back({v, m.has(g) ? op.v_rows : all - op.q_rows - op.k_rows});
  if (m.has(g)) parts.push_back({g, all - op.q_rows - op.k_rows - op.v_rows});
  for (const auto& [var, rows] : parts) {
    if (rows % 8 != 0) return std::nullopt;
  }
  const ValueId rounded = in_half(m, m[x]), matrix = in_half(m, m[w]);
  uint32_t first = 0;
  for (const auto& [var, rows] : std::span(parts).first(parts.size() - 1)) {
    m.add_node(HalfLinear{first, rows}, operands(m, rounded, matrix, bias), {{0, var}});
    first += rows;
  }
  return Replacement{HalfLinear{first, parts.back().second}, operands(m, rounded, matrix, bias)};
}

std::optional<Replacement> replace_library_products(Match& m) {
  if (!m.target().has_library || !fits(m, x, w)) return std::nullopt;
  if (m.has(q)) return replace_qkv(m);
  if (m.has(activated)) {
    const ToHalf rounds = {m.attributes<Activate>(activated).activation, m.target().library_type};
    return product(m, m.add_node(rounds, {m[x]}).front(), w, bias);
  }
  if (!m.has(gated)) return product(m, in_half(m, m[x]), w, bias);
  if (!fits(m, gated, down) || m.type(w).shape[0] % 16 != 0) return std::nullopt;
  const Replacement pairs = product(m, in_half(m, m[x]), w, bias);
  const ValueId both = m.add_node(pairs.op, pairs.inputs).front();
  const PairGlu glu = {m.attributes<LinearGlu>(gated).activation, m.target().library_type};
  return product(m, m.add_node(glu, {both}).front(), down, down_bias);
}

}  // namespace

Pass library_products() {
  Pass pass = {.name = "library_products",
               .patterns = {},
               .outputs = {q, k, v, g, y},
               .fewest = Steps::kMany,
               .replace = replace_library_products};
  const auto add = [&](Pattern one) { pass.patterns.push_back({std::move(one)}); };
  const std::vector<Pattern> plain = {any(x), any(w)}, biased = {any(x), any(w), any(bias)};
  for (const std::vector<Pattern>& operands : {plain, biased}) {
    for (const std::vector<Var>& others : {std::vector<Var>{k, v, g}, {k, v}, {k}}) {
      add(node<Qkv>(q, operands, others));
    }
    add(node<Linear>(y, {node<LinearGlu>(gated, operands), any(down)}));
    add(node<Linear>(y, {node<LinearGlu>(gated, operands), any(down), any(down_bias)}));
    std::vector<Pattern> of_activated = operands;
    of_activated.front() = node<Activate>(activated, {any(x)});
    add(node<Linear>(y, of_activated));
    add(node<Linear>(y, operands));
  }
  return pass;
}

}  // namespace tokamak::fuse
