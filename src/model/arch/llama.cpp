// Llama, and families that differ from it in a field or two.
#include <cmath>

#include "model/decoder_fields.h"
#include "model/families.h"
#include "model/rope_config.h"

namespace tokamak {

// Llama, SmolLM and others of this shape. Reference: transformers/models/llama/modeling_llama.py;
// arXiv:2302.13971, 2407.21783.
//
// The decoder as it is: biases, head_dim, tying and llama3 scaling as config.json says.
Result<DecoderSpec> read_llama(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "LlamaForCausalLM", {}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  if (config.flag("rope_interleaved", false)) {  // SmolLM's files say false
    return unsupported("{} is true; this engine turns halves, not neighbours.",
                       config.path("rope_interleaved"));
  }
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

// Arcee. Reference: transformers/models/arcee/modeling_arcee.py.
//
// Otherwise than in Llama the MLP has no gate.
Result<DecoderSpec> read_arcee(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "ArceeForCausalLM",
                                      {.max_context = 4096, .eps = 1e-5, .activation = "relu2"}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  c.plain_mlp = true;
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

// MiniCPM. Reference: openbmb/MiniCPM-2B-sft-bf16, modeling_minicpm.py; arXiv:2404.06395.
//
// Otherwise than in Llama embeddings, what layers add and logits have factors.
Result<DecoderSpec> read_minicpm(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "MiniCPMForCausalLM", {.tied = true}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.embedding_factor = float(config.positive("scale_emb", 1.0));
  c.residual_factor = float(config.positive("scale_depth", 1.0) / std::sqrt(double(c.layers)));
  c.logits_factor = float(config.positive("dim_model_base", 1.0) / double(c.hidden));
  TOK_TRY(config.status());
  if (config.has("sparse_config")) {
    return unsupported("{} is there; this engine runs this architecture with full attention.",
                       config.path("sparse_config"));
  }
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

// Seed-OSS. Reference: transformers/models/seed_oss/modeling_seed_oss.py.
//
// Otherwise than in Llama q, k and v have biases, and the output has one by a field of its own.
Result<DecoderSpec> read_seed_oss(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "SeedOssForCausalLM",
                                      {.kv_heads = 8, .head_dim = 128, .max_context = 524288}));
  c.qkv_bias = config.flag("attention_bias", true);
  c.output_bias = config.flag("attention_out_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

// SmolLM3. Reference: transformers/models/smollm3/modeling_smollm3.py.
//
// Otherwise than in Llama some layers have no positions: those with a 0 in no_rope_layers, or every
// fourth.
Result<DecoderSpec> read_smollm3(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "SmolLM3ForCausalLM",
                                      {.kv_heads = 4, .max_context = 32768, .tied = true}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  const uint32_t interval = config.size("no_rope_layer_interval", 4);
  const std::vector<uint32_t> turns = config.counts("no_rope_layers");
  TOK_TRY(refuse_flag(config, "use_sliding_window", "with full attention"));
  TOK_TRY(config.status());
  if (!turns.empty() && turns.size() != c.layers) {
    return invalid_input("{} has {} entries, expected {} (num_hidden_layers).",
                         config.path("no_rope_layers"), turns.size(), c.layers);
  }
  TOK_TRY(read_decoder_rope(config, c, 2e6));
  c.ropes.push_back(still(c.head_dim));
  for (uint32_t i = 0; i < c.layers; ++i) {
    const bool has_rope = turns.empty() ? (i + 1) % interval != 0 : turns[i] != 0;
    c.rope_of.push_back(has_rope ? 0 : 1);
  }
  return c;
}

// Hunyuan, dense. Reference:
// transformers/models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py.
//
// Otherwise than in Llama q and k are normed per head after they have turned, and "dynamic" scaling
// is of theta, once, by alpha.
Result<DecoderSpec> read_hunyuan(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "HunYuanDenseV1ForCausalLM", {.eps = 1e-5}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.head_norm = HeadNorm::kTurnedHeads;
  c.norms.q = "self_attn.query_layernorm";
  c.norms.k = "self_attn.key_layernorm";
  ConfigReader fields = rope_fields(config);
  double theta = fields.positive("rope_theta", read_rope_field(config, "rope_theta", 10000.0));
  const std::string type = fields.word("rope_type", fields.word("type", "default"));
  if (type == "dynamic") {
    const double d = c.head_dim;
    theta *= std::pow(fields.positive("alpha"), d / (d - 2));
  }
  TOK_TRY(config.status());
  TOK_TRY(fields.status());
  if (type != "dynamic" && type != "default") {
    return unsupported("{} is \"{}\"; this architecture has default and dynamic.",
                       fields.path("rope_type"), type);
  }
  const Json plain{Json::Object{}};
  ConfigReader none(plain, config.where());
  c.ropes = {read_rope(none, theta, c.head_dim, c.max_context)};
  return c;
}

}  // namespace tokamak
