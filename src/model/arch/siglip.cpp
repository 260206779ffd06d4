#include "model/arch/siglip.h"

#include <cmath>

#include "model/decoder_fields.h"

namespace tokamak {

Result<SiglipConfig> read_siglip(ConfigReader& config, const SiglipConfig& otherwise) {
  SiglipConfig c{};
  c.layers = config.size("num_hidden_layers", otherwise.layers);
  c.hidden = config.size("hidden_size", otherwise.hidden);
  c.heads = config.size("num_attention_heads", otherwise.heads);
  c.ffn = config.size("intermediate_size", otherwise.ffn);
  c.image = config.size("image_size", otherwise.image);
  c.patch = config.size("patch_size", otherwise.patch);
  c.eps = float(config.positive("layer_norm_eps", otherwise.eps));
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  c.activation = otherwise.activation;
  if (c.activation == Activation::kGeluTanh) {
    TOK_TRY(expect_gelu_tanh(config, "hidden_act"));
  } else {
    c.activation = read_activation(config, "hidden_act", "quick_gelu");
  }
  TOK_TRY(config.status());
  if (c.image % c.patch != 0) {
    return invalid_input("{}: images of {} pixels are not whole patches of {}.", config.where(),
                         c.image, c.patch);
  }
  return c;
}

ValueId siglip_block(VisionBuilder& b, const SiglipConfig& c, const std::string& p, ValueId x) {
  ValueId h = b.norm(x, p + "layer_norm1", c.eps);
  ValueId q = b.projection(h, p + "self_attn.q_proj", c.hidden, true);
  ValueId k = b.projection(h, p + "self_attn.k_proj", c.hidden, true);
  ValueId v = b.projection(h, p + "self_attn.v_proj", c.hidden, true);
  ValueId o = b.attention_both_ways(q, k, v, c.head_dim, 1 / std::sqrt(float(c.head_dim)));
  x = b.add(x, b.projection(o, p + "self_attn.out_proj", c.hidden, true));
  ValueId f = b.projection(b.norm(x, p + "layer_norm2", c.eps), p + "mlp.fc1", c.ffn, true);
  f = b.activate(c.activation, f);
  return b.add(x, b.projection(f, p + "mlp.fc2", c.hidden, true));
}

Result<Graph> siglip_patches(const SiglipConfig& c, const TensorFile& file,
                             const std::string& prefix, DType kv_dtype) {
  VisionBuilder b(file, prefix, c.patches(), kv_dtype);
  ValueId x = b.with_positions(
      b.embedded_patches("embeddings.patch_embedding", c.hidden, 3 * c.patch * c.patch, true));
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    x = siglip_block(b, c, fmt::format("encoder.layers.{}.", i), x);
  }
  return b.finish(b.norm(x, "post_layernorm", c.eps));
}

}  // namespace tokamak
