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

/// The arithmetic of an expert: down(activation(gate x) * up x), or with a limit gpt-oss's
/// down((u + 1) g sigmoid(1.702 g)), where g is gate x up to the limit and u is up x within it.
struct ExpertForm {
  Activation activation = Activation::kSilu;
  bool bias = false;       // of all three products
  float limit = 0;         // 0: none
  bool alternate = false;  // the rows of gate and up, where one tensor has both
};

/// The sum over a token's experts of their shares times what they give.
/// x: [T, hidden] -> [T, hidden]. The weights are name + ".N.gate_proj.weight" [ffn, hidden] and so
/// on, a tensor per expert, or name + ".gate_up_proj" [experts, 2 * ffn, hidden], the gate's rows
/// before the other's or row by row, and name + ".down_proj" [experts, hidden, ffn], or those two
/// as Granite names them. Biases are name + ".gate_proj_bias" [experts, ffn] and so on, for all
/// experts.
ValueId gated_experts(ModelBuilder& b, const std::string& name, const ExpertSizes& sizes,
                      const ExpertForm& form, ValueId x, const GraphBuilder::Routed& routed);

}  // namespace tokamak
