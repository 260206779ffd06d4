#include "model/experts.h"

namespace tokamak {
namespace {

/// The gated experts of [T, hidden]: [T, top_k * hidden].
struct Experts {
  ModelBuilder& b;
  const std::string& name;
  ExpertSizes sizes;
  ExpertForm form;
  uint32_t hidden;
  ValueId chosen;

  std::optional<ValueId> bias(const std::string& tensor, const ModelBuilder::Rows& rows) const {
    if (!form.bias) return std::nullopt;
    return b.stacked_biases(tensor, sizes.experts, rows);
  }
  /// `rows` of each expert in a tensor for all of them.
  ValueId stacked(ValueId x, const std::string& tensor, const std::string& biases,
                  const ModelBuilder::Rows& rows, uint32_t columns) const {
    const ValueId w = b.stacked(tensor, sizes.experts, rows, columns);
    std::vector<ValueId> inputs = {x, w, chosen};
    if (const auto own = bias(biases, rows)) inputs.push_back(*own);
    return b.add_node(ExpertLinear{sizes.experts}, std::move(inputs)).front();
  }
  ValueId stacked(ValueId x, const char* projection, const ModelBuilder::Rows& rows,
                  uint32_t columns) const {
    const std::string tensor = fmt::format("{}.{}", name, projection);
    return stacked(x, tensor, tensor + "_bias", rows, columns);
  }
  /// The same as MLX names it.
  ValueId switched(ValueId x, const std::string& module, uint32_t rows, uint32_t columns) const {
    const ModelBuilder::Rows all{.first = 0, .count = rows, .of = rows};
    return stacked(x, module + ".weight", module + ".bias", all, columns);
  }
  /// The beginning of the names of MLX's matrices; empty where there are none.
  std::string switch_prefix() const {
    const std::string other = name.substr(0, name.rfind("experts")) + "switch_mlp.";
    for (const std::string& at : {name + ".", other}) {
      if (b.has(at + "up_proj.weight")) return at;
    }
    return "";
  }
  ValueId separate(ValueId x, const char* projection, uint32_t rows, uint32_t columns) const {
    std::vector<ModelBuilder::Piece> pieces;
    for (uint32_t e = 0; e < sizes.experts && b.ok(); ++e) {
      pieces.push_back({fmt::format("{}.{}.{}.weight", name, e, projection),
                        {.first = 0, .count = rows, .of = rows}});
    }
    const std::string all = fmt::format("{}.{}", name, projection);
    return b.expert_projection(x, all + ".weight", pieces, columns, chosen,
                               bias(all + "_bias", {.first = 0, .count = rows, .of = rows}));
  }

  ValueId glu(ValueId gate, ValueId up) const {
    if (form.limit == 0) return b.glu(form.activation, gate, up);
    const ValueId g = b.clamp(gate, -3e38f, form.limit);
    const ValueId u = b.clamp(up, -form.limit, form.limit);
    const ValueId steep = b.scale(g, 1.702f);
    const ValueId turned = b.glu(Activation::kSigmoid, steep, g);
    const ValueId product = b.glu(Activation::kIdentity, turned, u);
    return b.add(product, turned);
  }

  ValueId gated(ValueId x) const {
    const uint32_t ffn = sizes.ffn;
    if (const std::string at = switch_prefix(); !at.empty() && !form.plain) {
      const ValueId gate = switched(x, at + "gate_proj", ffn, hidden);
      const ValueId up = switched(x, at + "up_proj", ffn, hidden);
      return switched(glu(gate, up), at + "down_proj", hidden, ffn);
    }
    if (form.plain && b.has(name + ".mlp.w1")) {  // as MegaBlocks has them
      ModelBuilder::Rows rows{.first = 0, .count = ffn, .of = ffn};
      const ValueId up = stacked(x, "mlp.w1", rows, hidden);
      rows = {.first = 0, .count = hidden, .of = hidden, .transposed = true};
      return stacked(b.activate(form.activation, up), "mlp.w2", rows, ffn);
    }
    if (form.plain) {
      const ValueId up = separate(x, "up_proj", ffn, hidden);
      return separate(b.activate(form.activation, up), "down_proj", hidden, ffn);
    }
    const bool are_linears = b.has(name + ".input_linear.weight");
    if (are_linears || b.has(name + ".gate_up_proj")) {
      const char* const both = are_linears ? "input_linear.weight" : "gate_up_proj";
      const char* const down = are_linears ? "output_linear.weight" : "down_proj";
      // Files that have [in, out] are known by the shape of one of the two, which is not square.
      const bool transposed = b.has_transposed(fmt::format("{}.{}", name, both), hidden) ||
                              b.has_transposed(fmt::format("{}.{}", name, down), ffn);
      ModelBuilder::Rows rows{.first = 0,
                              .count = ffn,
                              .of = 2 * ffn,
                              .alternate = form.alternate,
                              .transposed = transposed};
      const ValueId gate = stacked(x, both, rows, hidden);
      rows.first = ffn;
      const ValueId up = stacked(x, both, rows, hidden);
      rows = {.first = 0, .count = hidden, .of = hidden, .transposed = transposed};
      return stacked(glu(gate, up), down, rows, ffn);
    }
    const bool numbered = b.has(name + ".0.w1.weight");
    const ValueId gate = separate(x, numbered ? "w1" : "gate_proj", ffn, hidden);
    const ValueId up = separate(x, numbered ? "w3" : "up_proj", ffn, hidden);
    return separate(glu(gate, up), numbered ? "w2" : "down_proj", hidden, ffn);
  }
};

}  // namespace

Result<ExpertSizes> read_experts(ConfigReader& config, std::string_view experts,
                                 std::string_view top_k,
                                 const std::optional<ExpertSizes>& otherwise) {
  constexpr uint32_t kMax = 4096;
  using Size = std::optional<uint32_t>;
  const ExpertSizes sizes{
      .experts = config.size(experts, otherwise ? Size(otherwise->experts) : Size()),
      .top_k = config.size(top_k, otherwise ? Size(otherwise->top_k) : Size()),
      .ffn = config.size("moe_intermediate_size", otherwise ? Size(otherwise->ffn) : Size())};
  TOK_TRY(config.status());
  if (sizes.experts > kMax) {
    return invalid_input("{} is {}, expected at most {}.", config.path(experts), sizes.experts,
                         kMax);
  }
  if (sizes.top_k > sizes.experts) {
    return invalid_input("{} is {}, expected at most {} ({}).", config.path(top_k), sizes.top_k,
                         experts, sizes.experts);
  }
  return sizes;
}

Result<void> read_groups(ConfigReader& config, uint32_t experts, Route& route) {
  const uint32_t groups = config.size("n_group", 1), used = config.size("topk_group", 1);
  TOK_TRY(config.status());
  const uint32_t least = route.group_by == GroupBy::kTwo && groups > 1 ? 2 : 1;
  if (experts % groups != 0 || experts / groups < least) {
    return invalid_input("{} is {}, expected groups alike of at least {} of the {} experts.",
                         config.path("n_group"), groups, least, experts);
  }
  if (used > groups) {
    return invalid_input("{} is {}, expected at most n_group ({}).", config.path("topk_group"),
                         used, groups);
  }
  route.groups = used == groups ? 0 : groups;
  route.groups_used = used == groups ? 0 : used;
  return {};
}

Result<Route> read_sigmoid_route(ConfigReader& config, uint32_t experts) {
  Route route{.normalize = config.flag("norm_topk_prob", true),
              .score = Score::kSigmoid,
              .biased = true,
              .group_by = GroupBy::kTwo,
              .eps = 1e-20f,
              .scaled = float(config.positive("routed_scaling_factor", 1.0))};
  TOK_TRY(read_groups(config, experts, route));
  return route;
}

ValueId gated_experts(ModelBuilder& b, const std::string& name, const ExpertSizes& sizes,
                      const ExpertForm& form, ValueId x, const GraphBuilder::Routed& routed) {
  const Experts experts{b, name, sizes, form, uint32_t(b.at(x).shape[1]), routed.chosen};
  if (form.scaled_input) return experts.gated(b.expert_sum(x, routed.shares));
  return b.expert_sum(experts.gated(x), routed.shares);
}

ValueId routed_experts(ModelBuilder& b, const std::string& prefix, const Mixture& mixture,
                       Activation activation, ValueId x) {
  const ValueId logits = b.projection(x, prefix + std::string(mixture.router),
                                      mixture.sizes.experts, mixture.router_bias);
  Route route = mixture.route;
  route.top_k = mixture.sizes.top_k;
  std::optional<ValueId> bias;
  if (route.biased) {
    bias = b.vector(prefix + std::string(mixture.route_bias), mixture.sizes.experts);
  }
  ExpertForm form = mixture.form;
  form.activation = activation;
  return gated_experts(b, prefix + std::string(mixture.experts), mixture.sizes, form, x,
                       b.route(logits, route, {}, bias));
}

}  // namespace tokamak
