// The gated half of experts: two products of the same experts and the gate between them.
//
//   g = expert_linear x, wg, chosen
//   u = expert_linear x, wu, chosen      ==>      y = expert_glu x, w, chosen
//   y = glu g, u
//
// with their biases where both have some, and with gpt-oss's gate, (u + 1) g sigmoid(1.702 g) of
// clamped products, in place of an activation. An expert's rows of gate and up come one after the
// other. Saves two dispatches per layer; where only the experts and their router read a norm,
// norm_experts saves it, too.
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

/// The parts of a weight, one for each expert with its rows; nothing when it is put together
/// otherwise.
std::optional<std::vector<WeightPart>> parts_of(const TensorDesc& matrix, uint32_t experts) {
  const auto* weight = std::get_if<Weight>(&matrix.recipe);
  const uint32_t rows = uint32_t(matrix.shape[0]) / experts;
  if (weight == nullptr || weight->add_one) return std::nullopt;
  if (weight->order == RowOrder::kPlain) {
    const WeightPart& whole = weight->parts.front();  // a tensor of all experts
    const bool is_plain = whole.rope_heads == 0 && whole.cut == RankCut{} && whole.zeros == 0;
    if (experts != 1 && !is_plain) return std::nullopt;
    std::vector<WeightPart> parts(experts, whole);
    for (uint32_t e = 0; e < experts; ++e) {
      parts[e].first_row += e * rows;
      parts[e].rows = rows;
    }
    return parts;
  }
  if (weight->order != RowOrder::kConcat) return std::nullopt;
  std::vector<WeightPart> parts = weight->parts;
  for (WeightPart& part : parts) {
    if (part.rows == 0) part.rows = rows;
    if (part.rows != rows) return std::nullopt;
  }
  return parts.size() == experts ? std::optional(std::move(parts)) : std::nullopt;
}

/// The constant whose rows are those of two, expert by expert; nothing where they do not go
/// together.
std::optional<TensorDesc> joined(Match& m, Var gate, Var up, uint32_t experts) {
  TensorDesc both = m.type(gate);
  const auto gates = parts_of(m.type(gate), experts), ups = parts_of(m.type(up), experts);
  const bool alike = both.dtype == m.type(up).dtype && both.shape == m.type(up).shape;
  if (!gates || !ups || !alike || m[gate] == m[up] || m.uses(gate) != 1 || m.uses(up) != 1) {
    return std::nullopt;
  }
  Weight weight{.parts = {}, .order = RowOrder::kConcat};
  for (uint32_t e = 0; e < experts; ++e) {
    weight.parts.push_back((*gates)[e]);
    weight.parts.push_back((*ups)[e]);
  }
  both.name += ".gate_up";
  both.shape[0] *= 2;
  both.recipe = std::move(weight);
  return both;
}

}  // namespace

Pass expert_glu() {
  enum : Var { x, wg, wu, chosen, bg, bu, g, u, low, high, steep, turned, product, y };
  const auto products = [](bool biased) {
    std::pair<Pattern, Pattern> both = {node<ExpertLinear>(g, {any(x), any(wg), any(chosen)}),
                                        node<ExpertLinear>(u, {any(x), any(wu), any(chosen)})};
    if (biased) {
      both.first.inputs.push_back(any(bg));
      both.second.inputs.push_back(any(bu));
    }
    return both;
  };
  const auto limited = [&](bool biased) {
    const auto [gate, up] = products(biased);
    const Pattern clamped = node<Clamp>(low, {gate});
    const Pattern sigmoid = node<Glu>(turned, {node<Scale>(steep, {clamped}), any(low)});
    return node<Add>(y, {node<Glu>(product, {sigmoid, node<Clamp>(high, {up})}), any(turned)});
  };
  std::vector<std::vector<Pattern>> patterns;
  for (const bool biased : {false, true}) {
    const auto [gate, up] = products(biased);
    patterns.push_back({node<Glu>(y, {gate, up})});
    patterns.push_back({limited(biased)});
  }
  return {
      .name = "expert_glu",
      .patterns = std::move(patterns),
      .outputs = {y},
      .replace = [](Match& m) -> std::optional<Replacement> {
        ExpertGlu op{.experts = m.attributes<ExpertLinear>(g).experts, .bias = m.has(bg)};
        if (m.has(low)) {
          constexpr float kSteepness = 1.702f, kNoLimit = -1e38f;
          const Clamp &gate = m.attributes<Clamp>(low), &up = m.attributes<Clamp>(high);
          op.limit = gate.high;
          op.activation = Activation::kSigmoid;
          const bool is_known = gate.low < kNoLimit && op.limit > 0 && up.high == op.limit &&
                                up.low == -op.limit &&
                                m.attributes<Scale>(steep).factor == kSteepness &&
                                m.attributes<Glu>(turned).activation == op.activation &&
                                m.attributes<Glu>(product).activation == Activation::kIdentity;
          if (!is_known) return std::nullopt;
        } else {
          op.activation = m.attributes<Glu>(y).activation;
        }
        std::optional<TensorDesc> matrix = joined(m, wg, wu, op.experts);
        if (!matrix || m.type(x).shape[1] != matrix->shape[1] || !fits_fused_linear(*matrix)) {
          return std::nullopt;
        }
        std::optional<TensorDesc> bias;
        if (op.bias && !(bias = joined(m, bg, bu, op.experts))) return std::nullopt;
        Replacement made{op, {m[x], m.add_constant(*std::move(matrix)), m[chosen]}};
        if (bias) made.inputs.push_back(m.add_constant(*std::move(bias)));
        return made;
      },
  };
}

}  // namespace tokamak::fuse
