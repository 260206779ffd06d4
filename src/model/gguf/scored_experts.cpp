// The metadata of mixtures whose routers are DeepSeek's.
#include "model/gguf/architecture.h"

namespace tokamak::gguf {

void scored_experts(Fields& f) {
  constexpr uint32_t kSoftmax = 1, kSigmoid = 2;
  const uint32_t count = f.size("expert_count"), groups = f.size("expert_group_count", 1);
  const uint32_t gating = f.size("expert_gating_func", kSoftmax);
  const bool is_sigmoid = gating == kSigmoid;
  if (gating != kSoftmax && !is_sigmoid) {
    f.refuse("expert_gating_func", "is neither that of softmax nor that of sigmoid");
  }
  f.config.set("num_experts", count)
      .set("n_routed_experts", count)
      .set("num_experts_per_tok", f.size("expert_used_count"))
      .set("moe_intermediate_size", f.size("expert_feed_forward_length"))
      .set("n_shared_experts", f.reader.count(f.key("expert_shared_count"), 0))
      .set("first_k_dense_replace", f.reader.count(f.key("leading_dense_block_count"), 0))
      .set("norm_topk_prob", f.reader.flag(f.key("expert_weights_norm"), false))
      .set("routed_scaling_factor", f.positive("expert_weights_scale", 1.0))
      .set("scoring_func", is_sigmoid ? "sigmoid" : "softmax")
      .set("topk_method", is_sigmoid   ? "noaux_tc"
                          : groups > 1 ? "group_limited_greedy"
                                       : "greedy")
      .set("n_group", groups)
      .set("topk_group", f.size("expert_group_used_count", 1));
  further_layers(f);
}

void further_layers(Fields& f) {
  const uint32_t layers = f.size("block_count");
  const uint32_t further = f.reader.count(f.key("nextn_predict_layers"), 0);
  if (further >= layers) {
    return f.refuse("nextn_predict_layers", fmt::format("is {} of {} layers", further, layers));
  }
  f.config.set("mtp_num_hidden_layers", further);
  f.replace("num_hidden_layers", layers - further);
}

void glm4_moe(Fields& f) {
  biases(f);
  scored_experts(f);
  f.config.set("use_qk_norm", f.has_tensor("blk.0.attn_q_norm.weight"));
}

/// Experts stand in the layers of an interval, after the dense ones.
void ernie4_5_moe(Fields& f) {
  scored_experts(f);
  f.config.set("moe_num_experts", f.size("expert_count"))
      .set("moe_k", f.size("expert_used_count"))
      .set("moe_num_shared_experts", f.reader.count(f.key("expert_shared_count"), 0))
      .set("moe_layer_start_index", f.reader.count(f.key("leading_dense_block_count"), 0))
      .set("moe_layer_interval", f.size("interleave_moe_layer_step", 1));
}

void minimax_m2(Fields& f) {
  scored_experts(f);
  f.config.set("num_local_experts", f.size("expert_count"));
  f.replace("intermediate_size", f.size("expert_feed_forward_length"));
}

void lfm2_moe(Fields& f) {
  lfm2(f);
  const bool is_biased =
      f.has_tensor(fmt::format("blk.{}.exp_probs_b.bias", f.size("block_count") - 1));
  scored_experts(f);
  f.config.set("num_dense_layers", f.reader.count(f.key("leading_dense_block_count"), 0))
      .set("use_expert_bias", is_biased);
  f.replace("norm_topk_prob", f.reader.flag(f.key("expert_weights_norm"), true));
}

}  // namespace tokamak::gguf
