#include "model/arch/moonshine_streaming_config.h"

#include <cmath>

#include "model/decoder_fields.h"

namespace tokamak {
namespace {

Result<StreamingEncoder> read_encoder(ConfigReader config) {
  StreamingEncoder e;
  e.hidden = config.size("hidden_size", 320);
  e.ffn = config.size("intermediate_size", 1280);
  e.heads = config.size("num_attention_heads", 8);
  e.activation = read_activation(config, "hidden_act", "gelu");
  const uint32_t layers = read_layers(config);
  const uint32_t kv_heads = config.size("num_key_value_heads", e.heads);
  const double rate = config.positive("sample_rate", 16000), frame = config.positive("frame_ms", 5);
  const bool bias = config.flag("attention_bias", false);
  e.head_dim = read_head_dim(config, e.hidden, e.heads);
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, e.heads, kv_heads, e.head_dim));
  if (kv_heads != e.heads || bias ||
      std::lround(rate * frame / 1000) != MoonshineStreaming::kFrameSamples) {
    return unsupported(
        "{}: expected as many key heads as query heads, no biases of attention and frames of {} "
        "samples.",
        config.where(), MoonshineStreaming::kFrameSamples);
  }
  const Json* const windows = config.find("sliding_windows");
  const bool is_list =
      windows != nullptr && windows->is_array() && windows->as_array().size() == layers;
  for (uint32_t i = 0; is_list && i < layers; ++i) {
    const Json& one = windows->as_array()[i];
    if (!one.is_array() || one.as_array().size() != 2) break;
    const auto number = [&](size_t j) {
      const Json& value = one.as_array()[j];
      return value.is_integer() ? value.as_integer() : -1;
    };
    if (number(0) < 1 || number(1) < 0 || number(0) > MoonshineStreaming::kMaxRows ||
        number(1) > MoonshineStreaming::kMaxRows)
      break;
    e.windows.push_back({uint32_t(number(0)), uint32_t(number(1))});
  }
  if (e.windows.size() == layers) return e;
  return invalid_input("{} is not a pair of numbers of rows for each of the {} layers.",
                       config.path("sliding_windows"), layers);
}

}  // namespace

Result<MoonshineStreaming> read_moonshine_streaming(ConfigReader config) {
  MoonshineStreaming c;
  MoonshineDecoder& d = c.decoder;
  d.vocab = config.size("vocab_size", 32768);
  d.hidden = config.size("hidden_size", 320);
  d.ffn = config.size("intermediate_size", 1280);
  d.layers = read_layers(config);
  d.context = config.size("max_position_embeddings", 4096);
  d.start = start_token(config, 1, d.vocab);
  d.activation = read_activation(config, "hidden_act", "silu");
  d.tied = config.flag("tie_word_embeddings", false);
  const uint32_t heads = config.size("num_attention_heads", 8);
  TOK_TRY(config.status());
  TOK_TRY(d.heads, read_paired_heads(config, heads, d.hidden, 0.8));
  TOK_TRY(config.status());
  TOK_TRY(c.encoder, read_encoder(config.at("encoder_config")));
  return c;
}

}  // namespace tokamak
