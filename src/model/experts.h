// The gated experts of a mixture, however the checkpoint stores them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"
#include "model/model_builder.h"

namespace tokamak {

struct ExpertSizes {
  uint32_t experts = 0, top_k = 0;
  uint32_t ffn = 0;  // of one expert
};

/// Their number and top_k from the fields of these names, ffn from moe_intermediate_size;
/// `otherwise` has what absent ones are. More than 4096 experts are an error, and so is top_k
/// beyond them.
Result<ExpertSizes> read_experts(ConfigReader& config, std::string_view experts,
                                 std::string_view top_k,
                                 const std::optional<ExpertSizes>& otherwise = {});

/// n_group and topk_group of `experts` experts, which a route by the best two needs two of each;
/// one group, or all in use, is none.
Result<void> read_groups(ConfigReader& config, uint32_t experts, Route& route);

/// The route of DeepSeek V3 and what follows it: sigmoids and a bias, the shares' norm and factor
/// from norm_topk_prob and routed_scaling_factor, and the groups.
Result<Route> read_sigmoid_route(ConfigReader& config, uint32_t experts);

/// The arithmetic of an expert: down(activation(gate x) * up x), or with a limit gpt-oss's
/// down((u + 1) g sigmoid(1.702 g)), where g is gate x up to the limit and u is up x within it.
struct ExpertForm {
  Activation activation = Activation::kSilu;
  bool plain = false;         // down(activation(up x)), without a gate
  bool bias = false;          // of all products
  float limit = 0;            // 0: none
  bool alternate = false;     // the rows of gate and up, where one tensor has both
  bool scaled_input = false;  // the share of a token's only expert is of what it reads
};

/// The sum over a token's experts of their shares times what they give.
/// x: [T, hidden] -> [T, hidden]. The weights are name + ".N.gate_proj.weight" [ffn, hidden] and so
/// on, a tensor per expert, or name + ".gate_up_proj" [experts, 2 * ffn, hidden], the gate's rows
/// before the other's or row by row, and name + ".down_proj" [experts, hidden, ffn], or those two
/// as Granite names them. MLX has one of [experts, ffn, hidden] for each projection, with biases
/// beside them, below "switch_mlp" or the name. Otherwise biases are name + ".gate_proj_bias"
/// [experts, ffn] and so on, for all experts.
ValueId gated_experts(ModelBuilder& b, const std::string& name, const ExpertSizes& sizes,
                      const ExpertForm& form, ValueId x, const GraphBuilder::Routed& routed);

/// A mixture of experts in place of some layers' MLP.
struct Mixture {
  ExpertSizes sizes;
  Route route;               // top_k is that of the sizes
  std::vector<bool> sparse;  // per layer; the others are dense
  ExpertForm form;           // the decoder's activation, unless there is a limit
  bool router_bias = false;
  std::string_view router = "mlp.gate", experts = "mlp.experts";
  std::string_view route_bias;  // the tensor of what is added to scores, where the route is biased
  // An expert that every token takes.
  uint32_t shared = 0;  // its ffn; 0: none
  std::string_view shared_expert = "mlp.shared_expert.";
  std::string_view shared_gate;  // its share is a sigmoid of this; empty: 1
};

/// The experts that the router of the layer at `prefix` chooses: [T, hidden] -> [T, hidden].
ValueId routed_experts(ModelBuilder& b, const std::string& prefix, const Mixture& mixture,
                       Activation activation, ValueId x);

}  // namespace tokamak
