// Small families as GGUF files give the recorded answers.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "golden/gguf_fixture.h"
#include "golden/made_checkpoint.h"

namespace tokamak::golden {
namespace {

std::vector<LooseTensor> gpt2_tensors(LooseTensor tensor) {
  const std::string& name = tensor.info.name;
  const bool is_product = name.starts_with("blk.") && tensor.info.shape.size() == 2;
  if (is_product) tensor.transpose();
  return {std::move(tensor)};
}

/// q, k and v of each head become those of all heads.
std::vector<LooseTensor> gpt_neox_tensors(LooseTensor tensor) {
  constexpr uint64_t kHeads = 4, kHeadDim = 16;
  if (tensor.info.name.find("attn_qkv") == std::string::npos) return {std::move(tensor)};
  std::vector<uint64_t> rows;
  for (uint64_t part = 0; part < 3; ++part) {
    for (uint64_t head = 0; head < kHeads; ++head) {
      for (const uint64_t row : row_range((3 * head + part) * kHeadDim, kHeadDim)) {
        rows.push_back(row);
      }
    }
  }
  tensor.take_rows(rows);
  return {std::move(tensor)};
}

/// The rows of q and k in pairs, of 4 and 2 heads.
std::vector<LooseTensor> permuted(LooseTensor tensor) {
  const bool is_q = tensor.info.name.find("attn_q.") != std::string::npos;
  const bool is_k = tensor.info.name.find("attn_k.") != std::string::npos;
  if (is_q || is_k) tensor.take_rows(rows_in_pairs(tensor.info.shape[0], is_q ? 4 : 2));
  return {std::move(tensor)};
}

/// q, k and v by themselves, and in pairs.
std::vector<LooseTensor> internlm2_tensors(LooseTensor tensor) {
  constexpr uint64_t kGroups = 2, kQueries = 2, kHeadDim = 16, kEach = (kQueries + 2) * kHeadDim;
  if (tensor.info.name.find("attn_qkv") == std::string::npos) return {std::move(tensor)};
  std::vector<uint64_t> q, k, v;
  for (uint64_t i = 0; i < kGroups; ++i) {
    for (uint64_t row = 0; row < kEach; ++row) {
      const uint64_t head = row / kHeadDim;
      (head < kQueries ? q : head == kQueries ? k : v).push_back(i * kEach + row);
    }
  }
  std::vector<LooseTensor> out = {rows_as(tensor, "attn_qkv", "attn_q", q),
                                  rows_as(tensor, "attn_qkv", "attn_k", k),
                                  rows_as(tensor, "attn_qkv", "attn_v", v)};
  out[0].take_rows(rows_in_pairs(q.size(), 4));
  out[1].take_rows(rows_in_pairs(k.size(), 2));
  return out;
}

/// Llama's names and `more`.
GgufForm llama_like(const std::string& architecture, GgufNumbers numbers,
                    std::vector<std::pair<std::string, std::string>> more) {
  numbers.insert(numbers.begin(), {"attention.head_count_kv", 2});
  GgufForm form{.architecture = architecture,
                .metadata = gguf_sizes(64, 3, 4, 96, 512, std::move(numbers)),
                .layers = "model.layers.",
                .names = {{"model.embed_tokens", "token_embd"},
                          {"model.norm", "output_norm"},
                          {"lm_head", "output"},
                          {"input_layernorm", "attn_norm"},
                          {"self_attn.q_proj", "attn_q"},
                          {"self_attn.k_proj", "attn_k"},
                          {"self_attn.v_proj", "attn_v"},
                          {"self_attn.o_proj", "attn_output"},
                          {"post_attention_layernorm", "ffn_norm"},
                          {"mlp.gate_proj", "ffn_gate"},
                          {"mlp.up_proj", "ffn_up"},
                          {"mlp.down_proj", "ffn_down"}}};
  form.names.insert(form.names.end(), more.begin(), more.end());
  return form;
}

GgufForm with_change(GgufForm form, std::vector<LooseTensor> (*change)(LooseTensor)) {
  form.change = change;
  return form;
}

/// The divisors of llama3's scaling by 8 of what was trained on 64 positions, for heads of 16.
std::vector<float> llama3_divisors() {
  std::vector<float> divisors;
  for (int i = 0; i < 8; ++i) {
    const double turns = 64 * std::pow(10000.0, -i / 8.0) / (2 * std::numbers::pi);
    const double fast = std::clamp((turns - 1) / (4 - 1), 0.0, 1.0);
    divisors.push_back(float(1 / ((1 - fast) / 8 + fast)));
  }
  return divisors;
}

GgufForm apertus() {
  GgufForm form = llama_like("apertus", {{"attention.layer_norm_rms_epsilon", 1e-5}},
                             {{"attention_layernorm", "attn_norm"},
                              {"feedforward_layernorm", "ffn_norm"},
                              {"self_attn.q_norm", "attn_q_norm"},
                              {"self_attn.k_norm", "attn_k_norm"}});
  form.vectors = {{"rope_freqs.weight", llama3_divisors()}};
  for (const char* one : {"alpha_p", "alpha_n", "beta", "eps"}) {
    form.lists.push_back({fmt::format("xielu.{}", one), fmt::format("mlp.act_fn.{}", one)});
  }
  return form;
}

GgufForm llama4() {
  GgufForm form = llama_like("llama4",
                             {{"attention.layer_norm_rms_epsilon", 1e-5},
                              {"expert_count", 4},
                              {"expert_used_count", 1},
                              {"expert_feed_forward_length", 48},
                              {"interleave_moe_layer_step", 2},
                              {"attention.temperature_length", 16},
                              {"attention.chunk_size", 24}},
                             {{"feed_forward.gate_proj", "ffn_gate"},
                              {"feed_forward.up_proj", "ffn_up"},
                              {"feed_forward.down_proj", "ffn_down"},
                              {"feed_forward.router", "ffn_gate_inp"},
                              {"feed_forward.experts.gate_up_proj", "ffn_gate_up_exps"},
                              {"feed_forward.experts.down_proj", "ffn_down_exps"},
                              {"feed_forward.shared_expert.gate_proj", "ffn_gate_shexp"},
                              {"feed_forward.shared_expert.up_proj", "ffn_up_shexp"},
                              {"feed_forward.shared_expert.down_proj", "ffn_down_shexp"}});
  form.change = expert_tensors;
  for (auto& [key, value] : form.metadata) {
    if (key == "block_count") value = 4;
  }
  return form;
}

/// Norms with their 1, rates, the channel of convolutions left out, and q, k and v apart from z.
std::vector<LooseTensor> qwen3_next_tensors(LooseTensor tensor) {
  constexpr uint64_t kKeyHeads = 2, kKey = 32, kValues = 64, kBlock = 2 * kKey + 2 * kValues;
  const std::string& name = tensor.info.name;
  if (name.ends_with("norm.weight") && !name.ends_with("ssm_norm.weight")) {
    change_floats(tensor, [](float w) { return w + 1; });
  }
  if (name.ends_with("ssm_a")) change_floats(tensor, [](float a) { return -std::exp(a); });
  if (name.ends_with("ssm_conv1d.weight")) tensor.info.shape.erase(tensor.info.shape.begin() + 1);
  if (name.find("attn_qkv") == std::string::npos) return {std::move(tensor)};
  std::vector<uint64_t> qkv, z;
  const auto take = [&](uint64_t first, uint64_t count, std::vector<uint64_t>& rows) {
    for (uint64_t head = 0; head < kKeyHeads; ++head) {
      for (const uint64_t row : row_range(head * kBlock + first, count)) rows.push_back(row);
    }
  };
  take(0, kKey, qkv);
  take(kKey, kKey, qkv);
  take(2 * kKey, kValues, qkv);
  take(2 * kKey + kValues, kValues, z);
  return {rows_as(tensor, "attn_qkv", "attn_qkv", qkv),
          rows_as(tensor, "attn_qkv", "attn_gate", z)};
}

GgufForm qwen3_next() {
  return {.architecture = "qwen3next",
          .metadata = gguf_sizes(64, 3, 2, 64, 2048,
                                 {{"attention.head_count_kv", 1},
                                  {"attention.key_length", 64},
                                  {"attention.value_length", 64},
                                  {"attention.layer_norm_rms_epsilon", 1e-6},
                                  {"rope.freq_base", 1e7},
                                  {"rope.dimension_count", 16},
                                  {"expert_count", 4},
                                  {"expert_used_count", 2},
                                  {"expert_feed_forward_length", 32},
                                  {"expert_shared_feed_forward_length", 32},
                                  {"ssm.conv_kernel", 4},
                                  {"ssm.state_size", 32},
                                  {"ssm.group_count", 2},
                                  {"ssm.time_step_rank", 4},
                                  {"ssm.inner_size", 128},
                                  {"full_attention_interval", 3}}),
          .layers = "model.layers.",
          .names = {{"model.embed_tokens", "token_embd"},
                    {"model.norm", "output_norm"},
                    {"lm_head", "output"},
                    {"input_layernorm", "attn_norm"},
                    {"post_attention_layernorm", "post_attention_norm"},
                    {"self_attn.q_proj", "attn_q"},
                    {"self_attn.k_proj", "attn_k"},
                    {"self_attn.v_proj", "attn_v"},
                    {"self_attn.o_proj", "attn_output"},
                    {"self_attn.q_norm", "attn_q_norm"},
                    {"self_attn.k_norm", "attn_k_norm"},
                    {"linear_attn.A_log", "ssm_a"},
                    {"linear_attn.conv1d", "ssm_conv1d"},
                    {"linear_attn.dt_bias", "ssm_dt.bias"},
                    {"linear_attn.in_proj_ba", "ssm_ba"},
                    {"linear_attn.in_proj_qkvz", "attn_qkv"},
                    {"linear_attn.norm", "ssm_norm"},
                    {"linear_attn.out_proj", "ssm_out"},
                    {"mlp.gate", "ffn_gate_inp"},
                    {"mlp.experts.gate_proj", "ffn_gate_exps"},
                    {"mlp.experts.up_proj", "ffn_up_exps"},
                    {"mlp.experts.down_proj", "ffn_down_exps"},
                    {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
                    {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
                    {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
                    {"mlp.shared_expert.down_proj", "ffn_down_shexp"}},
          .change = qwen3_next_tensors};
}

const std::pair<std::string, Json> kRmsEps = {"attention.layer_norm_rms_epsilon", 1e-5};
const std::pair<std::string, Json> kLayerNormEps = {"attention.layer_norm_epsilon", 1e-5};

const GgufForms& family_forms() {
  static const GgufForms forms = {
      {"apertus", apertus()},
      {"arcee", with_change(llama_like("arcee", {kRmsEps}, {}), permuted)},
      {"cohere", llama_like("command-r", {kLayerNormEps, {"logit_scale", 0.0625}}, {})},
      {"gpt2",
       {.architecture = "gpt2",
        .metadata = gguf_sizes(64, 3, 4, 256, 128, {kLayerNormEps}),
        .layers = "transformer.h.",
        .names = {{"transformer.wte", "token_embd"},
                  {"transformer.wpe", "position_embd"},
                  {"transformer.ln_f", "output_norm"},
                  {"ln_1", "attn_norm"},
                  {"attn.c_attn", "attn_qkv"},
                  {"attn.c_proj", "attn_output"},
                  {"ln_2", "ffn_norm"},
                  {"mlp.c_fc", "ffn_up"},
                  {"mlp.c_proj", "ffn_down"}},
        .change = gpt2_tensors}},
      {"gpt_neox",
       {.architecture = "gptneox",
        .metadata = gguf_sizes(
            64, 3, 4, 96, 512,
            {kLayerNormEps, {"rope.dimension_count", 4}, {"use_parallel_residual", true}}),
        .layers = "gpt_neox.layers.",
        .names = {{"gpt_neox.embed_in", "token_embd"},
                  {"gpt_neox.final_layer_norm", "output_norm"},
                  {"lm_head", "output"},
                  {"input_layernorm", "attn_norm"},
                  {"attention.query_key_value", "attn_qkv"},
                  {"attention.dense", "attn_output"},
                  {"post_attention_layernorm", "ffn_norm"},
                  {"mlp.dense_h_to_4h", "ffn_up"},
                  {"mlp.dense_4h_to_h", "ffn_down"}},
        .change = gpt_neox_tensors}},
      {"internlm2", with_change(llama_like("internlm2", {kRmsEps},
                                           {{"model.tok_embeddings", "token_embd"},
                                            {"output", "output"},
                                            {"attention_norm", "attn_norm"},
                                            {"ffn_norm", "ffn_norm"},
                                            {"attention.wqkv", "attn_qkv"},
                                            {"attention.wo", "attn_output"},
                                            {"feed_forward.w1", "ffn_gate"},
                                            {"feed_forward.w3", "ffn_up"},
                                            {"feed_forward.w2", "ffn_down"}}),
                                internlm2_tensors)},
      {"llama4", llama4()},
      {"minicpm", with_change(llama_like("minicpm",
                                         {kRmsEps,
                                          {"embedding_scale", 12.0},
                                          {"residual_scale", 1.4 / std::sqrt(3.0)},
                                          {"logit_scale", 4.0}},
                                         {}),
                              permuted)},
      {"qwen3_next", qwen3_next()},
  };
  return forms;
}

struct FamilyFile : GgufGolden {};
TEST_P(FamilyFile, GivesTheRecordedLogits) {
  const Json golden = read_json(family_file(GetParam()));
  const std::string folder = made_checkpoint(GetParam(), golden);
  const auto engine = open_form(folder, family_forms().at(GetParam()));
  std::filesystem::remove_all(folder);
  ASSERT_NE(engine, nullptr);
  for (const Json& prompt : golden.find("prompts")->as_array()) {
    const std::vector<float> logits = logits_of(*engine, ids_of(*prompt.find("ids")));
    EXPECT_LE(relative_error(floats_of(*prompt.find("logits_last")), logits), cpu.tolerance);
  }
}
INSTANTIATE_TEST_SUITE_P(Families, FamilyFile, testing::ValuesIn(names_of(family_forms())),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace tokamak::golden
