// The towers that GGUF files may have, and their tensors.
#include <algorithm>
#include <cmath>

#include "model/gguf/projector.h"

namespace tokamak::gguf {
namespace {

constexpr Rename kGemma3Names[] = {
    {"mm.input_projection.weight", "multi_modal_projector.mm_input_projection_weight"},
    {"mm.soft_emb_norm.weight", "multi_modal_projector.mm_soft_emb_norm.weight"},
    {"v.patch_embd", "vision_tower.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "vision_tower.vision_model.embeddings.position_embedding"},
    {"v.post_ln", "vision_tower.vision_model.post_layernorm"},
};
constexpr Rename kGemma4Names[] = {
    {"mm.input_projection", "model.embed_vision.embedding_projection"},
    {"v.patch_embd", "model.vision_tower.patch_embedder.input_proj"},
    {"v.position_embd.weight", "model.vision_tower.patch_embedder.position_embedding_table"},
    {"v.std_bias", "model.vision_tower.std_bias"},
    {"v.std_scale", "model.vision_tower.std_scale"},
};
constexpr Rename kIdefics3Names[] = {
    {"mm.model.fc", "model.connector.modality_projection.proj"},
    {"v.patch_embd", "model.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "model.vision_model.embeddings.position_embedding"},
    {"v.post_ln", "model.vision_model.post_layernorm"},
};
constexpr Rename kLlavaNames[] = {
    {"mm.0", "multi_modal_projector.linear_1"},
    {"mm.2", "multi_modal_projector.linear_2"},
    {"v.class_embd", "vision_tower.vision_model.embeddings.class_embedding"},
    {"v.patch_embd", "vision_tower.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "vision_tower.vision_model.embeddings.position_embedding"},
    {"v.pre_ln", "vision_tower.vision_model.pre_layrnorm"},
};
constexpr Rename kPixtralNames[] = {
    {"mm.1", "multi_modal_projector.linear_1"},
    {"mm.2", "multi_modal_projector.linear_2"},
    {"mm.input_norm", "multi_modal_projector.norm"},
    {"mm.patch_merger", "multi_modal_projector.patch_merger.merging_layer"},
    {"v.patch_embd", "vision_tower.patch_conv"},
    {"v.pre_ln", "vision_tower.ln_pre"},
};
constexpr Rename kQwen2Names[] = {
    {"mm.0", "model.visual.merger.mlp.0"},
    {"mm.2", "model.visual.merger.mlp.2"},
    {"v.patch_embd", "model.visual.patch_embed.proj"},
    {"v.patch_embd.weight.1", "model.visual.patch_embed.second_proj.weight"},
    {"v.post_ln", "model.visual.merger.ln_q"},
};
constexpr Rename kQwen3Names[] = {
    {"mm.0", "model.visual.merger.linear_fc1"},
    {"mm.2", "model.visual.merger.linear_fc2"},
    {"v.patch_embd", "model.visual.patch_embed.proj"},
    {"v.patch_embd.weight.1", "model.visual.patch_embed.second_proj.weight"},
    {"v.position_embd", "model.visual.pos_embed"},
    {"v.post_ln", "model.visual.merger.norm"},
};
constexpr Rename kSiglipBlock[] = {
    {"attn_k", "self_attn.k_proj"}, {"attn_out", "self_attn.out_proj"},
    {"attn_q", "self_attn.q_proj"}, {"attn_v", "self_attn.v_proj"},
    {"ffn_down", "mlp.fc2"},        {"ffn_up", "mlp.fc1"},
    {"ln1", "layer_norm1"},         {"ln2", "layer_norm2"},
};
constexpr Rename kGemma4Block[] = {
    {"attn_k", "self_attn.k_proj.linear"},   {"attn_k_norm", "self_attn.k_norm"},
    {"attn_out", "self_attn.o_proj.linear"}, {"attn_post_norm", "post_attention_layernorm"},
    {"attn_q", "self_attn.q_proj.linear"},   {"attn_q_norm", "self_attn.q_norm"},
    {"attn_v", "self_attn.v_proj.linear"},   {"ffn_down", "mlp.down_proj.linear"},
    {"ffn_gate", "mlp.gate_proj.linear"},    {"ffn_post_norm", "post_feedforward_layernorm"},
    {"ffn_up", "mlp.up_proj.linear"},        {"ln1", "input_layernorm"},
    {"ln2", "pre_feedforward_layernorm"},
};
constexpr Rename kPixtralBlock[] = {
    {"attn_k", "attention.k_proj"},
    {"attn_out", "attention.o_proj"},
    {"attn_q", "attention.q_proj"},
    {"attn_v", "attention.v_proj"},
    {"ffn_down", "feed_forward.down_proj"},
    {"ffn_gate", "feed_forward.gate_proj"},
    {"ffn_up", "feed_forward.up_proj"},
    {"ln1", "attention_norm"},
    {"ln2", "ffn_norm"},
};
constexpr Rename kQwen2Block[] = {
    {"attn_k", "attn.k_proj"}, {"attn_out", "attn.proj"}, {"attn_q", "attn.q_proj"},
    {"attn_qkv", "attn.qkv"},  {"attn_v", "attn.v_proj"}, {"ffn_down", "mlp.fc2"},
    {"ffn_up", "mlp.fc1"},     {"ln1", "norm1"},          {"ln2", "norm2"},
};
constexpr Rename kQwen25Block[] = {
    {"attn_k", "attn.k_proj"},
    {"attn_out", "attn.proj"},
    {"attn_q", "attn.q_proj"},
    {"attn_qkv", "attn.qkv"},
    {"attn_v", "attn.v_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ln1", "norm1"},
    {"ln2", "norm2"},
};
constexpr Rename kQwen3Block[] = {
    {"attn_out", "attn.proj"},    {"attn_qkv", "attn.qkv"}, {"ffn_down", "mlp.linear_fc2"},
    {"ffn_up", "mlp.linear_fc1"}, {"ln1", "norm1"},         {"ln2", "norm2"},
};
constexpr Rename kDeepstack[] = {
    {"fc1", "linear_fc1"},
    {"fc2", "linear_fc2"},
    {"norm", "norm"},
};

/// The fields that config.json has of a plain vision transformer.
void plain_tower(TowerFields& f) {
  f.vision.set("num_hidden_layers", f.size("block_count"))
      .set("hidden_size", f.size("embedding_length"))
      .set("num_attention_heads", f.size("attention.head_count"))
      .set("intermediate_size", f.size("feed_forward_length"))
      .set("image_size", f.size("image_size"))
      .set("patch_size", f.size("patch_size"));
}

void siglip(TowerFields& f) {
  plain_tower(f);
  f.vision.set("layer_norm_eps", f.reader.positive(f.key("attention.layer_norm_epsilon")));
}

/// Squares of 4 patches a side become one row, but in models to test with.
void gemma3_tower(TowerFields& f) {
  siglip(f);
  const uint32_t grid = f.size("image_size") / f.size("patch_size");
  const uint32_t side = grid / f.size("projector.scale_factor", 4);
  f.own.set("mm_tokens_per_image", side * side);
}

/// The text of models without inputs per layer sees images as a whole, for which files have no key.
void gemma4_tower(TowerFields& f) {
  const uint32_t hidden = f.size("embedding_length"), heads = f.size("attention.head_count");
  const TensorInfo* const table = f.file.tensors.find("v.position_embd.weight");
  const bool has_table = table != nullptr && table->shape.size() == 3;
  const bool clips = std::ranges::any_of(f.file.tensors.tensors(), [](const TensorInfo& tensor) {
    return tensor.name.starts_with("v.") && tensor.name.ends_with(".input_max");
  });
  f.vision.set("num_hidden_layers", f.size("block_count"))
      .set("hidden_size", hidden)
      .set("num_attention_heads", heads)
      .set("head_dim", std::max(hidden / heads, 1u))
      .set("intermediate_size", f.size("feed_forward_length"))
      .set("patch_size", f.size("patch_size"))
      .set("patch_embed_as_gguf", true)
      .set("pooling_kernel_size", f.size("projector.scale_factor", 3))
      .set("position_embedding_size", has_table ? table->shape[1] : 1)
      .set("rms_norm_eps", f.reader.positive(f.key("attention.layer_norm_epsilon"), 1e-6))
      .set("use_clipped_linears", clips)
      .set("standardize", f.file.tensors.find("v.std_bias") != nullptr);
  const Json* const per_layer = f.text_config.find("hidden_size_per_layer_input");
  if (per_layer == nullptr || *per_layer == Json(0)) {
    f.text_config.set("use_bidirectional_attention", "vision");
  }
}

void idefics3_tower(TowerFields& f) {
  siglip(f);
  f.own.set("scale_factor", f.size("projector.scale_factor", 2));
  const uint32_t longest = f.size("preproc_image_size", f.size("image_size"));
  f.processor.set("size", Json(Json::Object{{"longest_edge", longest}}));
}

/// Files have no block that does not run, and no size of the projector's rows. The reference's own
/// programs give images margins. Those of LLaVA-NeXT see an image in tiles.
void llava_tower(TowerFields& f) {
  plain_tower(f);
  const std::string merge = f.reader.word("clip.vision.mm_patch_merge_type", "flat");
  if (f.reader.has("clip.vision.image_grid_pinpoints") || merge != "flat") {
    f.reader.reject({ErrorCode::kUnsupported,
                     fmt::format("{} is LLaVA-NeXT's, which sees an image in tiles; this engine "
                                 "runs LLaVA 1.5, which sees it as one square.",
                                 f.reader.where())});
  }
  const bool is_gelu = f.reader.flag("clip.use_gelu", false);
  f.vision.set("num_hidden_layers", f.size("block_count") + 1)
      .set("layer_norm_eps", f.reader.positive(f.key("attention.layer_norm_epsilon"), 1e-5))
      .set("hidden_act", is_gelu ? "gelu" : "quick_gelu");
  f.own.set("multimodal_projector_bias", f.file.tensors.find("mm.0.bias") != nullptr);
  f.processor.set("do_pad", true);
}

/// The text's own file may be one of Llama's kind, where there is no window.
void pixtral_tower(TowerFields& f) {
  plain_tower(f);
  const bool is_ministral = f.text_config.find("model_type") != nullptr &&
                            *f.text_config.find("model_type") == Json("ministral3");
  for (auto& [key, value] : f.text_config.as_object()) {
    if (key == "model_type" && !is_ministral) value = "mistral";
  }
  if (f.text_config.find("sliding_window") == nullptr) f.text_config.set("sliding_window", Json());
  f.vision.set("hidden_act", f.reader.flag("clip.use_silu", false) ? "silu" : "gelu");
  f.own.set("spatial_merge_size", f.size("spatial_merge_size", 2))
      .set("multimodal_projector_bias", f.file.tensors.find("mm.1.bias") != nullptr);
}

/// The fields that all of Qwen's towers have. Both frames of a patch have a matrix of their own.
void qwen_tower(TowerFields& f) {
  f.vision.set("depth", f.size("block_count"))
      .set("num_heads", f.size("attention.head_count"))
      .set("patch_size", f.size("patch_size"))
      .set("temporal_patch_size", 1)
      .set("patch_embed_as_gguf", true)
      .set("spatial_merge_size", f.size("spatial_merge_size", 2));
  Json size{Json::Object()};
  const auto limit = [&](std::string_view name, const char* field) {
    if (f.reader.has(f.key(name))) size.set(field, f.size(name));
  };
  limit("image_min_pixels", "shortest_edge");
  limit("image_max_pixels", "longest_edge");
  f.processor.set("size", std::move(size));
}

/// Files may lack the size of MLPs, whose matrices older ones name the other way round.
void qwen2_tower(TowerFields& f) {
  qwen_tower(f);
  const uint32_t hidden = f.size("embedding_length");
  const uint64_t ffn = std::max(f.rows("v.blk.0.ffn_up.weight"), f.rows("v.blk.0.ffn_down.weight"));
  f.vision.set("embed_dim", hidden)
      .set("hidden_size", f.size("projection_dim"))
      .set("mlp_ratio", double(ffn) / double(hidden));
}

/// Every block of that number, from 1 on, sees all of an image.
void qwen25_tower(TowerFields& f) {
  qwen_tower(f);
  f.vision.set("hidden_size", f.size("embedding_length"))
      .set("intermediate_size", f.size("feed_forward_length"))
      .set("out_hidden_size", f.size("projection_dim"))
      .set("window_size", f.size("window_size", 112));
  Json::Array full;
  const uint32_t depth = f.size("block_count"), period = f.size("n_wa_pattern");
  for (uint32_t i = period; i <= depth; i += period) full.emplace_back(i - 1);
  f.vision.set("fullatt_block_indexes", std::move(full));
}

/// The numbers of blocks whose output the text reads stand in a list of truths.
void qwen3_tower(TowerFields& f) {
  qwen_tower(f);
  f.vision.set("hidden_size", f.size("embedding_length"))
      .set("intermediate_size", f.size("feed_forward_length"))
      .set("out_hidden_size", f.size("projection_dim"))
      .set("num_position_embeddings", f.rows("v.position_embd.weight"));
  Json::Array tapped;
  const Json* const is_tapped = f.reader.find(f.key("is_deepstack_layers"));
  if (is_tapped != nullptr && is_tapped->is_array()) {
    for (size_t i = 0; i < is_tapped->as_array().size(); ++i) {
      if (is_true(is_tapped->as_array()[i])) tapped.emplace_back(uint64_t{i});
    }
  }
  f.vision.set("deepstack_visual_indexes", std::move(tapped));
}

/// Mistral 3's and Ministral 3's, whose texts are of two kinds.
constexpr Tower pixtral(std::string_view text) {
  return {.type = "pixtral",
          .text = text,
          .name = "Mistral3ForConditionalGeneration",
          .model_type = "mistral3",
          .word = "[IMG]",
          .word_field = "image_token_index",
          .names = kPixtralNames,
          .blocks = "vision_tower.transformer.layers.",
          .block_names = kPixtralBlock,
          .permuted = true,
          .more = pixtral_tower};
}

/// A row with what all of Qwen's towers have.
constexpr Tower qwen(Tower own) {
  own.word = "<|image_pad|>";
  own.word_field = "image_token_id";
  own.blocks = "model.visual.blocks.";
  return own;
}

constexpr Tower qwen2(std::string_view type, std::string_view name, std::string_view model_type,
                      std::span<const Rename> block, void (*more)(TowerFields&)) {
  return qwen({.type = type,
               .text = "qwen2vl",
               .name = name,
               .model_type = model_type,
               .names = kQwen2Names,
               .block_names = block,
               .more = more});
}

constexpr Tower qwen3(std::string_view text, std::string_view name, std::string_view model_type) {
  return qwen({.type = "qwen3vl_merger",
               .text = text,
               .name = name,
               .model_type = model_type,
               .names = kQwen3Names,
               .block_names = kQwen3Block,
               .more = qwen3_tower});
}

constexpr Tower kTowers[] = {
    {.type = "gemma3",
     .text = "gemma3",
     .name = "Gemma3ForConditionalGeneration",
     .model_type = "gemma3",
     .word = "<image_soft_token>",
     .word_field = "image_token_index",
     .names = kGemma3Names,
     .blocks = "vision_tower.vision_model.encoder.layers.",
     .block_names = kSiglipBlock,
     .may_lack_word = true,
     .more = gemma3_tower},
    {.type = "gemma4v",
     .text = "gemma4",
     .name = "Gemma4ForConditionalGeneration",
     .model_type = "gemma4",
     .word = "<|image|>",
     .word_field = "image_token_id",
     .names = kGemma4Names,
     .blocks = "model.vision_tower.encoder.layers.",
     .block_names = kGemma4Block,
     .more = gemma4_tower},
    {.type = "idefics3",
     .text = "llama",
     .name = "Idefics3ForConditionalGeneration",
     .model_type = "idefics3",
     .word = "<image>",
     .word_field = "image_token_id",
     .names = kIdefics3Names,
     .blocks = "model.vision_model.encoder.layers.",
     .block_names = kSiglipBlock,
     .more = idefics3_tower},
    {.type = "mlp",
     .text = "llama",
     .name = "LlavaForConditionalGeneration",
     .model_type = "llava",
     .word = "<image>",
     .word_field = "image_token_index",
     .names = kLlavaNames,
     .blocks = "vision_tower.vision_model.encoder.layers.",
     .block_names = kSiglipBlock,
     .may_lack_word = true,
     .width_of = "mm.2.weight",
     .more = llava_tower},
    pixtral("llama"),
    pixtral("mistral3"),
    qwen2("qwen2vl_merger", "Qwen2VLForConditionalGeneration", "qwen2_vl", kQwen2Block,
          qwen2_tower),
    qwen2("qwen2.5vl_merger", "Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", kQwen25Block,
          qwen25_tower),
    qwen3("qwen3vl", "Qwen3VLForConditionalGeneration", "qwen3_vl"),
    qwen3("qwen3vlmoe", "Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe"),
    qwen3("qwen35", "Qwen3_5ForConditionalGeneration", "qwen3_5"),
    qwen3("qwen35moe", "Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe"),
};

/// "ffn_up" for "ffn_down" of older files, which name the two matrices the other way round.
std::string_view unswapped(std::string_view stem, bool is_swapped) {
  if (!is_swapped) return stem;
  return stem == "ffn_up" ? "ffn_down" : stem == "ffn_down" ? "ffn_up" : stem;
}

/// "v.blk.3.attn_q" taken apart: the number and "attn_q"; nothing for names outside of blocks.
std::pair<std::string_view, std::string_view> numbered(std::string_view stem,
                                                       std::string_view prefix) {
  if (!stem.starts_with(prefix)) return {};
  stem.remove_prefix(prefix.size());
  const size_t dot = stem.find('.');
  if (dot == stem.npos) return {};
  return {stem.substr(0, dot), stem.substr(dot + 1)};
}

/// Limits of a product stand beside its matrix, not in it.
std::string_view module_of(std::string_view name, std::string_view suffix) {
  constexpr std::string_view kMatrix = ".linear";
  const bool is_limit = suffix.starts_with(".input_") || suffix.starts_with(".output_");
  if (is_limit && name.ends_with(kMatrix)) name.remove_suffix(kMatrix.size());
  return name;
}

/// Blocks in the order in which `number` comes: a deepstack's mergers count from 0.
size_t place_of(std::string_view number, const std::vector<std::string>& sorted) {
  return size_t(std::ranges::find(sorted, number) - sorted.begin());
}

/// The numbers of the blocks with mergers of their own, ascending.
std::vector<std::string> merged_blocks(const GgufFile& file) {
  std::vector<std::string> numbers;
  for (const TensorInfo& tensor : file.tensors.tensors()) {
    const auto [number, rest] = numbered(tensor.name, "v.deepstack.");
    if (rest == "norm.weight") numbers.emplace_back(number);
  }
  std::ranges::sort(numbers, {},
                    [](const std::string& text) { return std::pair(text.size(), text); });
  return numbers;
}

}  // namespace

uint64_t TowerFields::rows(std::string_view tensor) const {
  const TensorInfo* const found = file.tensors.find(tensor);
  return found == nullptr || found->shape.empty() ? 1 : found->shape.front();
}

std::span<const Tower> towers() {
  return kTowers;
}

std::vector<TensorInfo> rename_tower(const GgufFile& file, const Tower& tower, uint32_t heads) {
  const TensorInfo* const down = file.tensors.find("v.blk.0.ffn_down.weight");
  const TensorInfo* const norm = file.tensors.find("v.blk.0.ln1.weight");
  const bool is_swapped = down != nullptr && norm != nullptr && !norm->shape.empty() &&
                          !down->shape.empty() && down->shape.front() != norm->shape.front();
  const std::vector<std::string> merged = merged_blocks(file);
  std::vector<TensorInfo> out;
  for (const TensorInfo& tensor : file.tensors.tensors()) {
    if (tensor.name.starts_with("a.") || tensor.name.starts_with("mm.a.")) continue;
    TensorInfo one = tensor;
    const std::string_view old = tensor.name;
    const size_t dot = std::min(old.rfind('.'), old.size());
    const std::string_view stem = old.substr(0, dot), suffix = old.substr(dot);
    const auto [number, own] = numbered(stem, "v.blk.");
    const auto [tapped, part] = numbered(stem, "v.deepstack.");
    if (const std::string_view whole = renamed(tower.names, tensor.name); !whole.empty()) {
      one.name = std::string(whole);
    } else if (const std::string_view name = renamed(tower.block_names, unswapped(own, is_swapped));
               !number.empty() && !name.empty()) {
      one.name = fmt::format("{}{}.{}{}", tower.blocks, number, module_of(name, suffix), suffix);
      if (tower.permuted && (own == "attn_q" || own == "attn_k")) one.rope_heads = heads;
    } else if (const std::string_view merger = renamed(kDeepstack, part);
               !tapped.empty() && !merger.empty()) {
      one.name = fmt::format("model.visual.deepstack_merger_list.{}.{}{}", place_of(tapped, merged),
                             merger, suffix);
    } else if (const std::string_view outside = renamed(tower.names, stem); !outside.empty()) {
      one.name = fmt::format("{}{}", outside, suffix);
    }
    one.raised = tensor.name == "mm.soft_emb_norm.weight";
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace tokamak::gguf
