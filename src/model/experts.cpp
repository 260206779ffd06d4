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

  std::optional<ValueId> bias(std::string_view projection, const ModelBuilder::Rows& rows) const {
    if (!form.bias) return std::nullopt;
    return b.stacked_biases(fmt::format("{}.{}_bias", name, projection), sizes.experts, rows);
  }
  /// `rows` of each expert in a tensor for all of them.
  ValueId stacked(ValueId x, std::string_view projection, const ModelBuilder::Rows& rows,
                  uint32_t columns) const {
    const ValueId w =
        b.stacked(fmt::format("{}.{}", name, projection), sizes.experts, rows, columns);
    std::vector<ValueId> inputs = {x, w, chosen};
    if (const auto own = bias(projection, rows)) inputs.push_back(*own);
    return b.add_node(ExpertLinear{sizes.experts}, std::move(inputs)).front();
  }
  ValueId separate(ValueId x, const char* projection, uint32_t rows, uint32_t columns) const {
    std::vector<ModelBuilder::Piece> pieces;
    for (uint32_t e = 0; e < sizes.experts && b.ok(); ++e) {
      pieces.push_back({fmt::format("{}.{}.{}.weight", name, e, projection),
                        {.first = 0, .count = rows, .of = rows}});
    }
    return b.expert_projection(x, fmt::format("{}.{}.weight", name, projection), pieces, columns,
                               chosen, bias(projection, {.first = 0, .count = rows, .of = rows}));
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

  /// Files that have [in, out] are known by the shapes of their matrices. A square one has both.
  void refuse_open_order(const std::string& gate_up, const std::string& down) const {
    const bool is_open = 2 * sizes.ffn == hidden || sizes.ffn == hidden;
    if (!is_open || (!b.has_transposed(gate_up, hidden) && !b.has_transposed(down, sizes.ffn))) {
      return;
    }
    b.reject({ErrorCode::kUnsupported,
              fmt::format("\"{}\" or \"{}\" has [in, out] of each expert and the other one is "
                          "square; this engine reads such files where neither is.",
                          gate_up, down)});
  }

  ValueId gated(ValueId x) const {
    const uint32_t ffn = sizes.ffn;
    if (form.plain) {
      const ValueId up = separate(x, "up_proj", ffn, hidden);
      return separate(b.activate(form.activation, up), "down_proj", hidden, ffn);
    }
    const bool are_linears = b.has(name + ".input_linear.weight");
    if (are_linears || b.has(name + ".gate_up_proj")) {
      const char* const both = are_linears ? "input_linear.weight" : "gate_up_proj";
      const char* const down = are_linears ? "output_linear.weight" : "down_proj";
      refuse_open_order(fmt::format("{}.{}", name, both), fmt::format("{}.{}", name, down));
      ModelBuilder::Rows rows{.first = 0, .count = ffn, .of = 2 * ffn, .alternate = form.alternate};
      const ValueId gate = stacked(x, both, rows, hidden);
      rows.first = ffn;
      const ValueId up = stacked(x, both, rows, hidden);
      return stacked(glu(gate, up), down, {.first = 0, .count = hidden, .of = hidden}, ffn);
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
