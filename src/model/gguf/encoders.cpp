// Encoders inside GGUF. Reference: llama.cpp's conversion/bert.py and src/models/bert.cpp,
// modern-bert.cpp.
//
// The differences from checkpoints: RoBERTa's table of positions has no rows before the first
// token's, so that all are BERT; NomicBERT has the newer names of its config, but with experts the
// older ones, since the newer know none.
#include "model/gguf/architecture.h"

namespace tokamak::gguf {
namespace {

constexpr Rename kBertNames[] = {
    {"attn_k", "attention.self.key"},
    {"attn_output", "attention.output.dense"},
    {"attn_output_norm", "attention.output.LayerNorm"},
    {"attn_q", "attention.self.query"},
    {"attn_v", "attention.self.value"},
    {"ffn_down", "output.dense"},
    {"ffn_up", "intermediate.dense"},
    {"layer_output_norm", "output.LayerNorm"},
    {"position_embd", "embeddings.position_embeddings"},
    {"token_embd", "embeddings.word_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"token_types", "embeddings.token_type_embeddings"},
};
constexpr Rename kJinaBertNames[] = {
    {"attn_k", "attention.self.key"},
    {"attn_k_norm", "attention.self.layer_norm_k"},
    {"attn_norm_2", "layer_norm_1"},
    {"attn_output", "attention.output.dense"},
    {"attn_output_norm", "attention.output.LayerNorm"},
    {"attn_q", "attention.self.query"},
    {"attn_q_norm", "attention.self.layer_norm_q"},
    {"attn_v", "attention.self.value"},
    {"ffn_down", "mlp.wo"},
    {"ffn_gate", "mlp.gate"},
    {"ffn_up", "mlp.gated_layers"},
    {"layer_output_norm", "mlp.layernorm"},
    {"token_embd", "embeddings.word_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"token_types", "embeddings.token_type_embeddings"},
};
constexpr Rename kModernBertNames[] = {
    {"attn_norm", "attn_norm"},
    {"attn_output", "attn.Wo"},
    {"attn_qkv", "attn.Wqkv"},
    {"ffn_down", "mlp.Wo"},
    {"ffn_norm", "mlp_norm"},
    {"ffn_up", "mlp.Wi"},
    {"output_norm", "final_norm"},
    {"token_embd", "embeddings.tok_embeddings"},
    {"token_embd_norm", "embeddings.norm"},
};
constexpr Rename kNomicBertNames[] = {
    {"attn_output", "attn.out_proj"}, {"attn_output_norm", "norm1"},
    {"attn_qkv", "attn.Wqkv"},        {"ffn_down", "mlp.fc2"},
    {"ffn_gate", "mlp.fc12"},         {"ffn_up", "mlp.fc11"},
    {"layer_output_norm", "norm2"},   {"token_embd", "embeddings.word_embeddings"},
    {"token_embd_norm", "emb_ln"},    {"token_types", "embeddings.token_type_embeddings"},
};

constexpr Rename kNomicMoeNames[] = {
    {"attn_output", "attn.out_proj"},
    {"attn_output_norm", "norm1"},
    {"attn_qkv", "attn.Wqkv"},
    {"ffn_down", "mlp.fc2"},
    {"ffn_gate_inp", "mlp.router.layer"},
    {"ffn_up", "mlp.fc1"},
    {"layer_output_norm", "norm2"},
    {"token_embd", "embeddings.word_embeddings"},
    {"token_embd_norm", "emb_ln"},
    {"token_types", "embeddings.token_type_embeddings"},
};

/// The rows of a table, at least one.
uint32_t rows_of(const Fields& f, std::string_view table) {
  const TensorInfo* const tensor = f.file.tensors.find(table);
  return tensor != nullptr && tensor->shape.size() == 2 ? uint32_t(tensor->shape[0]) : 1;
}

void bert(Fields& f) {
  f.config.set("type_vocab_size", rows_of(f, "token_types.weight"));
  f.replace("max_position_embeddings", rows_of(f, "position_embd.weight"));
}

void jina_bert(Fields& f) {
  f.config.set("type_vocab_size", rows_of(f, "token_types.weight"))
      .set("position_embedding_type", "alibi");
}

void nomic_bert(Fields& f) {
  f.config.set("type_vocab_size", rows_of(f, "token_types.weight"))
      .set("hidden_act", "silu")
      .set("rotary_emb_base", f.positive("rope.freq_base", 1000.0));
}

void nomic_bert_moe(Fields& f) {
  f.config.set("type_vocab_size", rows_of(f, "token_types.weight"))
      .set("activation_function", "gelu")
      .set("n_embd", f.size("embedding_length"))
      .set("n_layer", f.size("block_count"))
      .set("n_head", f.size("attention.head_count"))
      .set("n_inner", f.size("feed_forward_length"))
      .set("n_positions", f.size("context_length"))
      .set("layer_norm_epsilon", f.positive("attention.layer_norm_epsilon", 1e-5))
      .set("rotary_emb_base", f.positive("rope.freq_base", 10000.0))
      .set("moe_every_n_layers", f.size("moe_every_n_layers", 2))
      .set("num_experts", f.size("expert_count"))
      .set("moe_top_k", f.size("expert_used_count"));
  for (const char* const bias : {"qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias"}) {
    f.config.set(bias, true);
  }
}

void modern_bert(Fields& f) {
  f.config.set("norm_eps", f.positive("attention.layer_norm_epsilon", 1e-5))
      .set("norm_bias", f.has_tensor("output_norm.bias"))
      .set("attention_bias", f.has_tensor("blk.0.attn_qkv.bias"))
      .set("mlp_bias", f.has_tensor("blk.0.ffn_up.bias"))
      .set("local_attention", f.size("attention.sliding_window", 128))
      .set("global_attn_every_n_layers", f.size("attention.sliding_window_pattern", 3))
      .set("global_rope_theta", f.positive("rope.freq_base", 160000.0))
      .set("local_rope_theta", f.positive("rope.freq_base_swa", 10000.0));
}

constexpr Architecture kEncoders[] = {
    {.gguf = "bert",
     .name = "BertModel",
     .model_type = "bert",
     .names = kBertNames,
     .layers = "encoder.layer.",
     .encoder = true,
     .layer_norm = true,
     .more = bert},
    {.gguf = "jina-bert-v2",
     .name = "JinaBertModel",
     .model_type = "bert",
     .names = kJinaBertNames,
     .layers = "encoder.layer.",
     .encoder = true,
     .layer_norm = true,
     .more = jina_bert},
    {.gguf = "modern-bert",
     .name = "ModernBertModel",
     .model_type = "modernbert",
     .names = kModernBertNames,
     .layers = "layers.",
     .encoder = true,
     .layer_norm = true,
     .more = modern_bert},
    {.gguf = "nomic-bert",
     .name = "NomicBertModel",
     .model_type = "nomic_bert",
     .names = kNomicBertNames,
     .layers = "encoder.layers.",
     .encoder = true,
     .layer_norm = true,
     .more = nomic_bert},
    {.gguf = "nomic-bert-moe",
     .name = "NomicBertModel",
     .model_type = "nomic_bert",
     .names = kNomicMoeNames,
     .experts = true,
     .layers = "encoder.layers.",
     .encoder = true,
     .layer_norm = true,
     .more = nomic_bert_moe},
};

}  // namespace

std::span<const Architecture> encoders() {
  return kEncoders;
}

}  // namespace tokamak::gguf
