// The columns of a product in several parts, whose sums are added up by who reads them.
//
//   y         = linear x, w                       y         = split_linear x, w {parts=n}
//   sum, norm = add_rms_norm y, r, v       ==>    sum, norm = add_rms_norm y, r, v {parts=n}
//
// and the same in front of step_attention and of all_reduce. Saves no dispatch, but fills the
// device in steps of several rows: a workgroup has some rows of the matrix for all rows of the
// step, so that their number does not grow with the step, and each walks the columns one load after
// the other.
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, w, product, addend, weight, sum, norm, table, cache, pages, norms, y, appended };

/// Parts of enough columns for several loads, as many as give each multiprocessor two workgroups
/// of kTileRows rows; 1: no parts.
uint32_t parts_for(const TensorDesc& matrix, const Target& target) {
  constexpr int64_t kTileRows = 64, kMinColumns = 256, kMaxParts = 8;
  const int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  if (!target.is_parallel || rows % 2 != 0) return 1;
  int64_t parts = 1;
  while (parts < kMaxParts && columns % (2 * parts) == 0 && columns / (2 * parts) >= kMinColumns &&
         columns / (2 * parts) % 8 == 0 &&
         rows / kTileRows * 2 * parts <= 2 * int64_t{target.multiprocessors}) {
    parts *= 2;
  }
  return uint32_t(parts);
}

std::optional<Replacement> replace_split_linear(Match& m) {
  const uint32_t parts = parts_for(m.type(w), m.target());
  if (parts == 1) return std::nullopt;
  if (m.has(norm)) {
    if (m.attributes<AddRmsNorm>(sum).parts != 1) return std::nullopt;
    const ValueId sums = m.add_node(SplitLinear{parts}, {m[x], m[w]}).front();
    return Replacement{AddRmsNorm{m.attributes<AddRmsNorm>(sum).eps, parts},
                       {sums, m[addend], m[weight]}};
  }
  if (const auto* reduce = m.as<AllReduce>(y)) {
    if (reduce->parts != 1) return std::nullopt;
    AllReduce op = *reduce;
    op.parts = parts;
    std::vector<ValueId> inputs = {m.add_node(SplitLinear{parts}, {m[x], m[w]}).front()};
    if (m.has(addend)) inputs.push_back(m[addend]);
    return Replacement{op, std::move(inputs)};
  }
  StepAttention op = m.attributes<StepAttention>(y);
  if (op.parts != 1) return std::nullopt;
  op.parts = parts;
  std::vector<ValueId> inputs = m.inputs(y);
  inputs[0] = m.add_node(SplitLinear{parts}, {m[x], m[w]}).front();
  return Replacement{op, std::move(inputs)};
}

}  // namespace

Pass split_linear() {
  const Pattern whole = node<Linear>(product, {any(x), any(w)});
  std::vector<std::vector<Pattern>> patterns = {
      {node<AddRmsNorm>(sum, {whole, any(addend), any(weight)}, {norm})},
      {node<AddRmsNorm>(sum, {any(addend), whole, any(weight)}, {norm})}};
  patterns.push_back({node<AllReduce>(y, {whole, any(addend)})});
  patterns.push_back({node<AllReduce>(y, {whole})});
  for (const std::vector<Var>& others : {std::vector<Var>{appended}, std::vector<Var>{}}) {
    const std::vector<Pattern> plain = {whole, any(table), any(cache), any(pages)};
    const std::vector<Pattern> normed = {whole, any(table), any(cache), any(pages), any(norms)};
    patterns.push_back({node<StepAttention>(y, plain, others)});
    patterns.push_back({node<StepAttention>(y, normed, others)});
  }
  return {.name = "split_linear",
          .patterns = std::move(patterns),
          .outputs = {sum, norm, y, appended},
          .steps = Steps::kShort,
          .fewest = Steps::kDecode,
          .replace = replace_split_linear};
}

}  // namespace tokamak::fuse
