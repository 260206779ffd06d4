// The GGUF files of Qwen's models that read images.
#include <cmath>

#include "golden/gguf_seeing_form.h"

namespace tokamak::golden {

Json::Array tokens_with(uint32_t count, uint32_t image, const std::string& word) {
  Json::Array tokens;
  for (uint32_t i = 0; i < count; ++i)
    tokens.emplace_back(i == image ? word : fmt::format("t{}", i));
  return tokens;
}

std::vector<std::pair<std::string, std::string>> llama_names(const std::string& prefix) {
  return {{prefix + "embed_tokens", "token_embd"},
          {prefix + "norm", "output_norm"},
          {"lm_head", "output"},
          {"language_model.lm_head", "output"},
          {"input_layernorm", "attn_norm"},
          {"self_attn.q_proj", "attn_q"},
          {"self_attn.k_proj", "attn_k"},
          {"self_attn.v_proj", "attn_v"},
          {"self_attn.o_proj", "attn_output"},
          {"self_attn.q_norm", "attn_q_norm"},
          {"self_attn.k_norm", "attn_k_norm"},
          {"post_attention_layernorm", "ffn_norm"},
          {"mlp.gate_proj", "ffn_gate"},
          {"mlp.up_proj", "ffn_up"},
          {"mlp.down_proj", "ffn_down"},
          {"mlp.gate", "ffn_gate_inp"},
          {"mlp.experts.gate_up_proj", "ffn_gate_up_exps"},
          {"mlp.experts.down_proj", "ffn_down_exps"}};
}

GgufNumbers tower_sizes(const std::string& type, uint32_t layers, uint32_t hidden, uint32_t ffn,
                        uint32_t image, uint32_t patch, uint32_t out, const GgufNumbers& more) {
  GgufNumbers all = {
      {"projector_type", type},           {"has_vision_encoder", true},
      {"vision.block_count", layers},     {"vision.embedding_length", hidden},
      {"vision.attention.head_count", 2}, {"vision.feed_forward_length", ffn},
      {"vision.image_size", image},       {"vision.patch_size", patch},
      {"vision.projection_dim", out},     {"vision.attention.layer_norm_epsilon", 1e-6}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

namespace {

/// The frames of a patch have a matrix each.
std::vector<LooseTensor> qwen_tower_tensors(LooseTensor tensor) {
  if (tensor.info.name != "v.patch_embd.weight") return {std::move(tensor)};
  const std::vector<uint64_t> shape = tensor.info.shape;
  tensor.info.shape = {shape[0] * shape[1] * shape[2], shape[3] * shape[4]};
  std::vector<LooseTensor> out(2, tensor);
  for (uint64_t frame = 0; frame < 2; ++frame) {
    std::vector<uint64_t> rows;
    for (uint64_t i = 0; i < shape[0] * shape[1]; ++i) rows.push_back(2 * i + frame);
    out[frame].take_rows(rows);
    out[frame].info.shape = {shape[0], shape[1], shape[3], shape[4]};
  }
  out[1].info.name += ".1";
  return out;
}

/// `tapped`: the blocks with mergers of their own.
GgufForm qwen3_tower(uint32_t layers, uint32_t ffn, uint32_t image,
                     const std::vector<uint32_t>& tapped) {
  std::vector<std::pair<std::string, std::string>> names = {
      {"model.visual.patch_embed.proj", "v.patch_embd"},
      {"model.visual.pos_embed", "v.position_embd"},
      {"model.visual.merger.norm", "v.post_ln"},
      {"model.visual.merger.linear_fc1", "mm.0"},
      {"model.visual.merger.linear_fc2", "mm.2"},
      {"norm1", "ln1"},
      {"norm2", "ln2"},
      {"attn.qkv", "attn_qkv"},
      {"attn.proj", "attn_out"},
      {"mlp.linear_fc1", "ffn_up"},
      {"mlp.linear_fc2", "ffn_down"}};
  Json::Array is_tapped(layers, Json(false));
  for (size_t i = 0; i < tapped.size(); ++i) {
    is_tapped[tapped[i]] = true;
    for (const auto& [from, to] : {std::pair("norm", "norm"), std::pair("linear_fc1", "fc1"),
                                   std::pair("linear_fc2", "fc2")}) {
      names.emplace_back(fmt::format("model.visual.deepstack_merger_list.{}.{}", i, from),
                         fmt::format("v.deepstack.{}.{}", tapped[i], to));
    }
  }
  return {.architecture = "clip",
          .metadata = tower_sizes("qwen3vl_merger", layers, 32, ffn, image, 16, 64,
                                  {{"vision.spatial_merge_size", 2},
                                   {"vision.image_min_pixels", 4096},
                                   {"vision.image_max_pixels", 16384},
                                   {"vision.is_deepstack_layers", std::move(is_tapped)},
                                   kMeanOfHalves,
                                   kStdOfHalves}),
          .layers = "model.visual.blocks.",
          .names = names,
          .change = qwen_tower_tensors,
          .parts = {"model.visual."},
          .blocks = "v.blk."};
}

SeeingForm qwen3_vl(const std::string& architecture, const GgufNumbers& more) {
  GgufNumbers numbers = {
      {"attention.head_count_kv", 2}, {"attention.key_length", 32},
      {"attention.value_length", 32}, {"attention.layer_norm_rms_epsilon", 1e-6},
      {"rope.freq_base", 5e6},        {"rope.dimension_sections", Json::Array{6, 5, 5, 0}},
      {"n_deepstack_layers", 2}};
  numbers.insert(numbers.end(), more.begin(), more.end());
  return {.text = {.architecture = architecture,
                   .metadata = gguf_sizes(64, 3, 4, 96, 2048, numbers),
                   .layers = "model.language_model.layers.",
                   .names = llama_names("model.language_model."),
                   .change = expert_tensors,
                   .parts = {"model.language_model.", "lm_head"},
                   .tokens = tokens_with(96, 92, "<|image_pad|>")},
          .tower = qwen3_tower(4, 48, 96, {0, 2})};
}

std::vector<LooseTensor> qwen3_5_text(LooseTensor tensor) {
  const std::string& name = tensor.info.name;
  if (name.ends_with("norm.weight") && !name.ends_with("ssm_norm.weight")) {
    change_floats(tensor, [](float w) { return w + 1; });
  }
  if (name.ends_with("ssm_a")) change_floats(tensor, [](float a) { return -std::exp(a); });
  if (name.ends_with("ssm_conv1d.weight")) tensor.info.shape.erase(tensor.info.shape.begin() + 1);
  return {std::move(tensor)};
}

SeeingForm qwen3_5() {
  auto names = llama_names("model.language_model.");
  for (auto& [from, to] : names) {
    if (from == "post_attention_layernorm") to = "post_attention_norm";
  }
  for (const auto& [from, to] :
       {std::pair("A_log", "ssm_a"), std::pair("norm", "ssm_norm"),
        std::pair("conv1d", "ssm_conv1d"), std::pair("dt_bias", "ssm_dt.bias"),
        std::pair("in_proj_a", "ssm_alpha"), std::pair("in_proj_b", "ssm_beta"),
        std::pair("in_proj_qkv", "attn_qkv"), std::pair("in_proj_z", "attn_gate"),
        std::pair("out_proj", "ssm_out")}) {
    names.emplace_back(fmt::format("linear_attn.{}", from), to);
  }
  return {.text = {.architecture = "qwen35",
                   .metadata = gguf_sizes(64, 2, 2, 96, 2048,
                                          {{"attention.head_count_kv", 1},
                                           {"attention.key_length", 64},
                                           {"attention.value_length", 64},
                                           {"attention.layer_norm_rms_epsilon", 1e-6},
                                           {"rope.freq_base", 1e7},
                                           {"rope.dimension_count", 16},
                                           {"rope.dimension_sections", Json::Array{3, 3, 2, 0}},
                                           {"ssm.conv_kernel", 4},
                                           {"ssm.state_size", 32},
                                           {"ssm.group_count", 2},
                                           {"ssm.time_step_rank", 2},
                                           {"ssm.inner_size", 64},
                                           {"full_attention_interval", 2}}),
                   .layers = "model.language_model.layers.",
                   .names = names,
                   .change = qwen3_5_text,
                   .parts = {"model.language_model.", "lm_head"},
                   .tokens = tokens_with(320, 316, "<|image_pad|>")},
          .tower = qwen3_tower(2, 64, 128, {})};
}

/// Queries, keys and values in tensors of their own, as converters write them.
std::vector<LooseTensor> apart(LooseTensor tensor) {
  const std::string joined = "attn_qkv";
  if (tensor.info.name.find(joined) == std::string::npos) {
    return qwen_tower_tensors(std::move(tensor));
  }
  const uint64_t rows = tensor.info.shape[0] / 3;
  return {rows_as(tensor, joined, "attn_q", row_range(0, rows)),
          rows_as(tensor, joined, "attn_k", row_range(rows, rows)),
          rows_as(tensor, joined, "attn_v", row_range(2 * rows, rows))};
}

SeeingForm qwen2_vl(const std::string& text, const std::string& visual, GgufForm tower) {
  tower.architecture = "clip";
  tower.layers = visual + "blocks.";
  tower.parts = {visual};
  tower.blocks = "v.blk.";
  for (const auto& [from, to] :
       {std::pair("patch_embed.proj", "v.patch_embd"), std::pair("merger.ln_q", "v.post_ln"),
        std::pair("merger.mlp.0", "mm.0"), std::pair("merger.mlp.2", "mm.2")}) {
    tower.names.emplace_back(visual + from, to);
  }
  for (const auto& [from, to] :
       {std::pair("norm1", "ln1"), std::pair("norm2", "ln2"), std::pair("attn.qkv", "attn_qkv"),
        std::pair("attn.proj", "attn_out")}) {
    tower.names.emplace_back(from, to);
  }
  for (const auto& [name, numbers] :
       {std::pair("vision.image_mean", Json::Array{0.48145466, 0.4578275, 0.40821073}),
        std::pair("vision.image_std", Json::Array{0.26862954, 0.26130258, 0.27577711})}) {
    tower.metadata.emplace_back(name, numbers);
  }
  tower.metadata.emplace_back("vision.image_min_pixels", 3136);
  tower.metadata.emplace_back("vision.image_max_pixels", 30000);
  return {.text = {.architecture = "qwen2vl",
                   .metadata = gguf_sizes(64, 2, 4, 96, 2048,
                                          {{"attention.head_count_kv", 2},
                                           {"attention.layer_norm_rms_epsilon", 1e-6},
                                           {"rope.freq_base", 1e6},
                                           {"rope.dimension_sections", Json::Array{2, 3, 3, 0}}}),
                   .layers = text + "layers.",
                   .names = llama_names(text),
                   .parts = {text, "lm_head"},
                   .tokens = tokens_with(96, 92, "<|image_pad|>")},
          .tower = std::move(tower)};
}

}  // namespace

std::map<std::string, SeeingForm> qwen_forms() {
  const GgufForm tower2 = {.metadata = tower_sizes("qwen2vl_merger", 3, 40, 0, 96, 8, 64, {}),
                           .names = {{"mlp.fc1", "ffn_up"}, {"mlp.fc2", "ffn_down"}},
                           .change = qwen_tower_tensors};
  const GgufForm tower25 = {
      .metadata = tower_sizes("qwen2.5vl_merger", 4, 40, 36, 96, 8, 64,
                              {{"vision.window_size", 48}, {"vision.n_wa_pattern", 2}}),
      .names = {{"mlp.gate_proj", "ffn_gate"},
                {"mlp.up_proj", "ffn_up"},
                {"mlp.down_proj", "ffn_down"}},
      .change = apart};
  return {{"qwen2_vl", qwen2_vl("model.language_model.", "model.visual.", tower2)},
          {"qwen2_5_vl", qwen2_vl("model.", "visual.", tower25)},
          {"qwen3_5_vl_images", qwen3_5()},
          {"qwen3_vl", qwen3_vl("qwen3vl", {})},
          {"qwen3_vl_moe", qwen3_vl("qwen3vlmoe", {{"expert_count", 6},
                                                   {"expert_used_count", 2},
                                                   {"expert_feed_forward_length", 40}})}};
}

}  // namespace tokamak::golden
