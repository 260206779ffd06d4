// The steps after a norm that is added to something, around Gemma's blocks: the addition, a factor
// on the sum, and a norm of that.
//
//   n = rms_norm x, u
//   t = add a, n                    y, s = norm_add x, a, u, k, v {factor=f, scaled, normed}
//   s = scale t, k {factor=f}  ==>
//   y = rms_norm s, v
//
// Without the factor, or without the second norm, where there is none. It begins with the addition,
// and takes what follows one by one. Saves one dispatch to three, and as many round trips; s stays
// an output.
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, u, n, a, k, by, v, made, s, y };

std::optional<Replacement> replace_norm_add(Match& m) {
  if (m.has(n)) return Replacement{NormAdd{m.attributes<RmsNorm>(n).eps}, {m[x], m[a], m[u]}};
  const Var sum = m.has(made) ? made : s;
  NormAdd op = m.attributes<NormAdd>(sum);
  std::vector<ValueId> inputs = m.inputs(sum);
  if (op.normed) return std::nullopt;
  if (m.has(made)) {
    if (op.scaled && m.has(by)) return std::nullopt;
    op.factor *= m.attributes<Scale>(s).factor;
    if (m.has(by)) {
      op.scaled = true;
      inputs.push_back(m[by]);
    }
    return Replacement{op, std::move(inputs)};
  }
  const Dim columns = m.type(x).shape[1];
  const bool alike = m.type(u).shape[0] == columns && m.type(v).shape[0] == columns;
  if (!alike || m.attributes<RmsNorm>(y).eps != op.eps) return std::nullopt;
  op.normed = true;
  inputs.push_back(m[v]);
  return Replacement{op, std::move(inputs)};
}

}  // namespace

Pass norm_add() {
  const Pattern norm = node<RmsNorm>(n, {any(x), any(u)});
  const std::vector<Pattern> three = {any(x), any(a), any(u)};
  const std::vector<Pattern> four = {any(x), any(a), any(u), any(k)};
  Pass pass = {.name = "norm_add",
               .patterns = {{node<Add>(s, {any(a), norm})}, {node<Add>(s, {norm, any(a)})}},
               .outputs = {y, s},
               .replace = replace_norm_add};
  for (const std::vector<Pattern>& inputs : {three, four}) {
    pass.patterns.push_back({node<Scale>(s, {node<NormAdd>(made, inputs), any(by)})});
    pass.patterns.push_back({node<Scale>(s, {node<NormAdd>(made, inputs)})});
    pass.patterns.push_back({node<RmsNorm>(y, {node<NormAdd>(s, inputs), any(v)})});
  }
  return pass;
}

}  // namespace tokamak::fuse
