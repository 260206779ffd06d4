// The cases of every op: the smallest, the odd and the large.
#pragma once
#include <vector>

#include "case.h"

namespace tokamak::parity {

/// Cases whose graph holds the op of that name; "" cannot happen: every op of graph/ops.h has some.
std::vector<Case> cases_of(std::string_view op);

// Those in files of their own.
std::vector<Case> linear_cases();
std::vector<Case> qkv_cases();
std::vector<Case> split_linear_cases();
std::vector<Case> linear_glu_cases();
std::vector<Case> layer_norm_cases();
std::vector<Case> add_positions_cases();
std::vector<Case> position_scale_cases();
std::vector<Case> all_reduce_cases();
std::vector<Case> all_reduce_norm_cases();
std::vector<Case> all_gather_cases();
std::vector<Case> all_norm_cases();
std::vector<Case> gather_columns_cases();
std::vector<Case> unfold_cases();
std::vector<Case> half_snake_cases();
std::vector<Case> causal_conv_cases();
std::vector<Case> transposed_conv_cases();
std::vector<Case> group_norm_cases();
/// Adds attention whose rows have ends or spans of their own.
void add_attention_to_parts(std::vector<Case>& all, DType cache, const Steps& whole,
                            const Steps& one_by_one);
std::vector<Case> short_conv_cases();
std::vector<Case> gated_delta_cases();
std::vector<Case> selective_scan_cases();
std::vector<Case> route_cases();
std::vector<Case> expert_linear_cases();
std::vector<Case> expert_glu_cases();
std::vector<Case> expert_mix_cases();
std::vector<Case> expert_columns_cases();
std::vector<Case> expert_sum_cases();
std::vector<Case> fused_linear_cases();
std::vector<Case> gated_ffn_cases();
/// One whose fixed-point sums cannot hold what is added to them.
Case network_beyond_its_sums();
std::vector<Case> step_attention_cases();
std::vector<Case> block_argmax_cases();
std::vector<Case> next_token_cases();
std::vector<Case> block_maxima_cases();
std::vector<Case> topk_blocks_cases();
std::vector<Case> topk_tokens_cases();
std::vector<Case> sample_token_cases();
std::vector<Case> to_half_cases();
std::vector<Case> half_linear_cases();
std::vector<Case> fused_norm_cases();
std::vector<Case> norm_add_cases();
std::vector<Case> pair_glu_cases();
std::vector<Case> gated_half_cases();
/// Those of the ops in kernels/latent, and of merge_splits; none of others.
std::vector<Case> latent_cases(std::string_view op);
std::vector<Case> lora_cases(std::string_view op);

}  // namespace tokamak::parity
