// InternLM 2 and 2.5. Reference: internlm/internlm2_5-7b-chat, modeling_internlm2.py;
// arXiv:2403.17297.
//
// The differences from Llama:
//   q, k and v are rows of one tensor, by key heads; other names
//   "dynamic" scaling of theta begins beyond max_position_embeddings, where this engine stops
#include "model/families.h"
#include "model/rope_config.h"

namespace tokamak {

Result<DecoderSpec> read_internlm2(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "InternLM2ForCausalLM", {}));
  c.qkv_bias = c.output_bias = config.flag("bias", true);
  c.joined_heads = true;
  c.names = {.embedding = "tok_embeddings",
             .head = "/output",
             .qkv = "attention.wqkv",
             .output = "attention.wo",
             .mlp = "feed_forward.",
             .glu_gate = "w1",
             .glu_up = "w3",
             .glu_down = "w2"};
  c.norms.attention = "attention_norm";
  c.norms.mlp = "ffn_norm";
  ConfigReader fields = rope_fields(config);
  const std::string type = fields.word("rope_type", fields.word("type", "default"));
  TOK_TRY(config.status());
  TOK_TRY(fields.status());
  if (type != "dynamic") {
    TOK_TRY(read_decoder_rope(config, c));
    return c;
  }
  const double theta = config.positive("rope_theta", 10000.0);
  fields.positive("factor");
  TOK_TRY(config.status());
  TOK_TRY(fields.status());
  const Json plain{Json::Object{}};
  ConfigReader none(plain, config.where());
  c.ropes = {read_rope(none, theta, c.head_dim, c.max_context)};
  return c;
}

}  // namespace tokamak
