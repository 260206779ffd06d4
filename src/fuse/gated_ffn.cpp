// A gated feed-forward network in one launch: gate, up and down.
//
//   s = fused_linear ...                        s, zeros = fused_linear ... {clears}
//   y = fused_linear s, gu, v {epilogue=glu} ==>  z = gated_ffn s, gu, v, d, zeros {adds_x}
//   z = fused_linear y, d, s {epilogue=add}
//
// and without adds_x where z is no residual yet. No workgroup waits for the columns of another:
// each adds its share of z to fixed-point sums (graph/fixed_point_sums.h), which the products after
// read as they are. The product in front leaves them zero.
//
// A launch that does both has fewer workgroups than two launches. That is faster while rows are
// short, as measured on an H200 (docs/history/performance.md): 2 to 10 % of a token up to 1152
// columns, but 2 to 24 % slower from 1536 on. What is lost grows with the matrices, as the square
// of the columns; what is gained is the cost of a launch.
#include <algorithm>

#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, w, third, fourth, kept, y, d, z };

/// Between 1152 columns, which gain where a launch costs so much, and 1536, which lose.
constexpr Dim kMeasuredColumns = 1280;
constexpr double kMeasuredCost = Target{}.launch_cost_us;

bool gains(Dim columns, const Target& target) {
  const auto square = [](Dim of) { return double(of) * double(of); };
  return square(columns) * kMeasuredCost <= square(kMeasuredColumns) * target.launch_cost_us;
}

/// Whether a product for one token reads the operand as fixed-point sums, too.
bool takes_sums(const Node& reader, size_t operand) {
  const auto* fused = std::get_if<FusedLinear>(&reader.op);
  if (fused == nullptr) return false;
  if (operand == 0) return !fused->looks_ahead();
  return fused->epilogue == Epilogue::kAdd && operand == fused->r();
}

/// The product that makes x, as one that clears sums beside; nothing where it makes something else.
std::optional<FusedLinear> clearing(const Match& m) {
  const Node* maker = m.maker_of(x);
  if (maker == nullptr) return std::nullopt;
  FusedLinear op;
  if (const auto* fused = std::get_if<FusedLinear>(&maker->op)) {
    const bool is_plain = fused->epilogue == Epilogue::kNone || fused->epilogue == Epilogue::kAdd;
    if (!is_plain || fused->clears) return std::nullopt;
    op = *fused;
  } else if (std::holds_alternative<Linear>(maker->op) &&
             fits_fused_linear(m.at(maker->inputs[1]))) {
    op.bias = maker->inputs.size() == 3;
  } else {
    return std::nullopt;
  }
  op.clears = true;
  // The sums are one more, and packed weights are bound twice.
  const size_t bindings = maker->inputs.size() + maker->outputs.size() + 2;
  if (bindings > m.target().max_bindings) return std::nullopt;
  return op;
}

std::optional<Replacement> replace_gated_ffn(Match& m) {
  GatedFfn op{.glu = m.attributes<FusedLinear>(y)};
  if (!m.target().joins_products) return std::nullopt;
  if (op.glu.epilogue != Epilogue::kGlu || op.glu.bias || op.glu.scaled) return std::nullopt;
  if (const auto* down = m.as<FusedLinear>(z)) {
    if (*down != FusedLinear{.epilogue = Epilogue::kAdd}) return std::nullopt;
    op.adds_x = true;
  }
  const Shape& matrix = m.type(d).shape;
  const Dim columns = std::max(matrix[0], m.type(w).shape[1]);
  // D is never cut.
  if (!fits_fused_linear(m.type(d)) || matrix[0] % 4 != 0 || !gains(columns, m.target()) ||
      byte_count(m.type(d), 1) > m.target().max_binding_bytes ||
      !m.is_only_read_as(z, takes_sums)) {
    return std::nullopt;
  }
  const auto front = clearing(m);
  if (!front || m.type(x).dtype != DType::kF32 || m.type(x).shape[1] != matrix[0]) {
    return std::nullopt;
  }
  std::vector<ValueId> inputs = m.inputs(y);
  inputs.push_back(m[d]);
  inputs.push_back(m.extend_maker(x, *front));
  return Replacement{op, std::move(inputs)};
}

}  // namespace

Pass gated_ffn() {
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& glu :
       {node<FusedLinear>(y, {any(x), any(w), any(third)}),
        node<FusedLinear>(y, {any(x), any(w), any(third), any(fourth)}, {kept})}) {
    // The residual is x itself.
    patterns.push_back({node<FusedLinear>(z, {glu, any(d), any(x)})});
    patterns.push_back({node<Linear>(z, {glu, any(d)})});
  }
  return {.name = "gated_ffn",
          .patterns = std::move(patterns),
          .outputs = {z, kept},
          .steps = Steps::kOne,
          .replace = replace_gated_ffn};
}

}  // namespace tokamak::fuse
