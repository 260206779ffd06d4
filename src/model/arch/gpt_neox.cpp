// GPT-NeoX, Pythia. Reference: transformers/models/gpt_neox/modeling_gpt_neox.py; arXiv:2204.06745.
//
// The differences from Llama:
//   layer norms and biases everywhere; an MLP without a gate
//   attention and MLP read x through a norm each, and both are added to it
//   q, k and v of a head are rows one after another; a quarter of each head turns
#include "model/families.h"

namespace tokamak {

Result<DecoderSpec> read_gpt_neox(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "GPTNeoXForCausalLM",
                       {.eps = 1e-5, .eps_name = "layer_norm_eps", .activation = "gelu"}));
  c.norm = NormKind::kLayerBias;
  c.names = {.embedding = "embed_in",
             .norm = "final_layer_norm",
             .older_head = "/embed_out",
             .qkv = "attention.query_key_value",
             .output = "attention.dense",
             .up = "mlp.dense_h_to_4h",
             .down = "mlp.dense_4h_to_h"};
  c.plain_mlp = c.mlp_bias = true;
  c.joined_qkv = config.flag("joined_qkv_as_gguf", false);
  c.joined_heads = !c.joined_qkv;
  c.qkv_bias = c.output_bias = config.flag("attention_bias", true);
  c.parallel = config.flag("use_parallel_residual", true);
  const double theta = config.positive("rotary_emb_base", 10000.0);
  const double part = config.positive("rotary_pct", 0.25);
  TOK_TRY(config.status());
  TOK_TRY(read_partial_rope(config, c, part, theta));
  return c;
}

}  // namespace tokamak
