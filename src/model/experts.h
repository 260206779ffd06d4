// The gated experts of a mixture, however the checkpoint stores them.
#pragma once
#include <optional>

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

/// The sum over a token's experts of share * down(activation(gate x) * up x).
/// x: [T, hidden] -> [T, hidden]. The weights are name + ".N.gate_proj.weight" [ffn, hidden] and so
/// on, a tensor per expert, or name + ".gate_up_proj" [experts, 2 * ffn, hidden], the gate's rows
/// before the other's, and name + ".down_proj" [experts, hidden, ffn], or those two as Granite
/// names them.
ValueId gated_experts(ModelBuilder& b, const std::string& name, const ExpertSizes& sizes,
                      Activation activation, ValueId x, const GraphBuilder::Routed& routed);

}  // namespace tokamak
