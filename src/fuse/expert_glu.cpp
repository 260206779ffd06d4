// The gated half of experts: two products of the same experts and the gate between them.
//
//   g = expert_linear x, wg, chosen
//   u = expert_linear x, wu, chosen      ==>      y = expert_glu x, w, chosen
//   y = glu g, u
//
// An expert's rows of gate and up come one after the other. Saves two dispatches per layer; where
// only the experts and their router read a norm, norm_experts saves it, too.
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

/// The parts of a weight, one for each expert with its rows; nothing when it is put together
/// otherwise.
std::optional<std::vector<WeightPart>> parts_of(const TensorDesc& matrix, uint32_t experts) {
  const auto* weight = std::get_if<Weight>(&matrix.recipe);
  const uint32_t rows = uint32_t(matrix.shape[0]) / experts;
  if (weight == nullptr || weight->add_one) return std::nullopt;
  std::vector<WeightPart> parts = weight->parts;
  if (weight->order == RowOrder::kPlain && experts == 1) parts.front().rows = rows;
  if (weight->order == RowOrder::kPlain ? experts != 1 : weight->order != RowOrder::kConcat) {
    return std::nullopt;
  }
  for (WeightPart& part : parts) {
    if (part.rows == 0) part.rows = rows;
    if (part.rows != rows) return std::nullopt;
  }
  return parts.size() == experts ? std::optional(std::move(parts)) : std::nullopt;
}

}  // namespace

Pass expert_glu() {
  enum : Var { x, wg, wu, chosen, g, u, y };
  return {
      .name = "expert_glu",
      .patterns = {{node<Glu>(y, {node<ExpertLinear>(g, {any(x), any(wg), any(chosen)}),
                                  node<ExpertLinear>(u, {any(x), any(wu), any(chosen)})})}},
      .outputs = {y},
      .replace = [](Match& m) -> std::optional<Replacement> {
        const uint32_t experts = m.attributes<ExpertLinear>(g).experts;
        TensorDesc joined = m.type(wg);
        const auto gates = parts_of(m.type(wg), experts), ups = parts_of(m.type(wu), experts);
        const bool alike = joined.dtype == m.type(wu).dtype && joined.shape == m.type(wu).shape;
        if (!gates || !ups || !alike || m[wg] == m[wu] || m.uses(wg) != 1 || m.uses(wu) != 1 ||
            m.type(x).shape[1] != joined.shape[1] || !fits_fused_linear(joined)) {
          return std::nullopt;
        }
        Weight weight{.parts = {}, .order = RowOrder::kConcat};
        for (uint32_t e = 0; e < experts; ++e) {
          weight.parts.push_back((*gates)[e]);
          weight.parts.push_back((*ups)[e]);
        }
        joined.name += ".gate_up";
        joined.shape[0] *= 2;
        joined.recipe = std::move(weight);
        const ExpertGlu op{.experts = experts, .activation = m.attributes<Glu>(y).activation};
        return Replacement{op, {m[x], m.add_constant(std::move(joined)), m[chosen]}};
      },
  };
}

}  // namespace tokamak::fuse
