#include "model/arch/gemma4_vision_config.h"

#include <algorithm>

#include "model/decoder_fields.h"

namespace tokamak {
namespace {

constexpr uint32_t kDefaultTokens = 280;  // of an image, by the reference's processor

}  // namespace

Result<Gemma4VisionConfig> read_gemma4_vision(const ConfigReader& whole, const Json* processor) {
  ConfigReader config = whole.at("vision_config"), text = whole.at("text_config");
  Gemma4VisionConfig c{};
  c.layers = config.size("num_hidden_layers", 16);
  c.hidden = config.size("hidden_size", 768);
  c.heads = config.size("num_attention_heads", 12);
  c.ffn = config.size("intermediate_size", 3072);
  c.head_dim = config.size("head_dim", 64);
  c.patch = config.size("patch_size", 16);
  c.side = config.size("pooling_kernel_size", 3);
  c.positions = config.size("position_embedding_size", 10240);
  c.eps = float(config.positive("rms_norm_eps", 1e-6));
  c.activation = read_activation(config, "hidden_activation", "gelu_pytorch_tanh");
  c.out = text.size("hidden_size");
  const uint32_t kv_heads = config.size("num_key_value_heads", c.heads);
  c.clips = config.flag("use_clipped_linears", false);
  c.channels_apart = config.flag("patch_embed_as_gguf", false);
  c.standardizes = config.flag("standardize", false);
  TOK_TRY(config.status());
  TOK_TRY(text.status());
  const Json none{Json::Object()};
  ConfigReader images(processor != nullptr ? *processor : none, "preprocessor_config.json");
  c.tokens = images.size("max_soft_tokens", std::min(kDefaultTokens, c.positions));
  TOK_TRY(images.status());
  if (c.tokens > c.positions) {
    return unsupported("{} is {}, expected at most {}, position_embedding_size of the tower.",
                       images.path("max_soft_tokens"), c.tokens, c.positions);
  }
  if (kv_heads == c.heads && c.head_dim % 4 == 0) return c;
  return unsupported(
      "{}: {} heads of {} with {} key heads; this engine runs as many of both, of a "
      "multiple of 4.",
      config.where(), c.heads, c.head_dim, kv_heads);
}

}  // namespace tokamak
