#include "model/experts.h"

namespace tokamak {
namespace {

/// [experts * rows, columns] of a tensor per expert.
ValueId separate(ModelBuilder& b, const std::string& name, const char* projection, uint32_t experts,
                 uint32_t rows, uint32_t columns) {
  std::vector<ModelBuilder::Piece> pieces;
  for (uint32_t e = 0; e < experts && b.ok(); ++e) {
    pieces.push_back({fmt::format("{}.{}.{}.weight", name, e, projection),
                      {.first = 0, .count = rows, .of = rows}});
  }
  return b.matrix(fmt::format("{}.{}.weight", name, projection), pieces, columns);
}

}  // namespace

Result<ExpertSizes> read_experts(ConfigReader& config, std::string_view experts,
                                 std::string_view top_k,
                                 const std::optional<ExpertSizes>& otherwise) {
  constexpr uint32_t kMost = 4096;
  using Size = std::optional<uint32_t>;
  const ExpertSizes sizes{
      .experts = config.size(experts, otherwise ? Size(otherwise->experts) : Size()),
      .top_k = config.size(top_k, otherwise ? Size(otherwise->top_k) : Size()),
      .ffn = config.size("moe_intermediate_size", otherwise ? Size(otherwise->ffn) : Size())};
  TOK_TRY(config.status());
  if (sizes.experts > kMost) {
    return invalid_input("{} is {}, expected at most {}.", config.path(experts), sizes.experts,
                         kMost);
  }
  if (sizes.top_k > sizes.experts) {
    return invalid_input("{} is {}, expected at most {} ({}).", config.path(top_k), sizes.top_k,
                         experts, sizes.experts);
  }
  return sizes;
}

ValueId gated_experts(ModelBuilder& b, const std::string& name, const ExpertSizes& sizes,
                      Activation activation, ValueId x, const GraphBuilder::Routed& routed) {
  const auto [experts, top_k, ffn] = sizes;
  const uint32_t hidden = uint32_t(b.at(x).shape[1]);
  ValueId gate = {}, up = {}, down = {};
  if (b.has(name + ".gate_up_proj")) {
    gate = b.stacked(name + ".gate_up_proj", experts, {.first = 0, .count = ffn, .of = 2 * ffn},
                     hidden);
    up = b.stacked(name + ".gate_up_proj", experts, {.first = ffn, .count = ffn, .of = 2 * ffn},
                   hidden);
    down =
        b.stacked(name + ".down_proj", experts, {.first = 0, .count = hidden, .of = hidden}, ffn);
  } else {
    gate = separate(b, name, "gate_proj", experts, ffn, hidden);
    up = separate(b, name, "up_proj", experts, ffn, hidden);
    down = separate(b, name, "down_proj", experts, hidden, ffn);
  }
  // [T, top_k * ffn], then [T, top_k * hidden]
  gate = b.expert_linear(x, gate, routed.chosen, experts);
  up = b.expert_linear(x, up, routed.chosen, experts);
  const ValueId gated = b.glu(activation, gate, up);
  const ValueId parts = b.expert_linear(gated, down, routed.chosen, experts);
  return b.expert_sum(parts, routed.shares);
}

}  // namespace tokamak
