// ModernBERT, and cross-encoders made of it. Reference:
// transformers/models/modernbert/modeling_modernbert.py; arXiv:2412.13663.
//
// The differences from BERT:
//   norms before the parts, none before the first attention, one at the end; mostly no biases
//   q, k and v are rows of one matrix, and so are the two halves of a gated FFN
//   rotary positions; all but every n-th layer see a window, with a base of their own
//   a ranker has a layer with an activation and a norm over the pooled row, then a row
#include "model/arch/encoder.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

struct Config : EncoderConfig {
  uint32_t window = 0;
  bool norm_bias = false, attention_bias = false, mlp_bias = false;
  std::vector<bool> full;  // per layer
  RopeTable rope_full, rope_sliding;
};

/// Without layer_types every `period`-th layer is full, from the first on.
Result<std::vector<bool>> read_full(const ConfigReader& config, uint32_t layers, uint32_t period) {
  if (config.has("layer_types")) return read_full_layers(config, layers, period);
  std::vector<bool> full(layers);
  for (uint32_t i = 0; i < layers; i += period) full[i] = true;
  return full;
}

Result<Config> read(ConfigReader config) {
  Config c;
  c.vocab = config.size("vocab_size", 50368);
  c.hidden = config.size("hidden_size", 768);
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads", 12);
  c.ffn = config.size("intermediate_size", 1152);
  c.max_context = config.size("max_position_embeddings", 8192);
  c.eps = float(config.positive("norm_eps", 1e-5));
  c.activation = read_activation(config, "hidden_activation", "gelu");
  c.norm_bias = config.flag("norm_bias", false);
  c.attention_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  c.window = config.size("local_attention", 128) / 2 + 1;
  const uint32_t period = config.size("global_attn_every_n_layers", 3);
  const double theta = config.positive("global_rope_theta", 160000);
  const double local = config.has("local_rope_theta") ? config.positive("local_rope_theta") : theta;
  TOK_TRY(config.status());
  const uint32_t head_dim = read_head_dim(config, c.hidden, c.heads);
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.heads, head_dim));
  TOK_TRY(c.full, read_full(config, c.layers, period));
  const ConfigReader parameters = config.at("rope_parameters");
  ConfigReader full = parameters.at("full_attention");
  ConfigReader sliding = parameters.at("sliding_attention");
  TOK_TRY(parameters.status());
  c.rope_full = read_rope(full, theta, head_dim, c.max_context);
  c.rope_sliding = read_rope(sliding, local, head_dim, c.max_context);
  TOK_TRY(full.status());
  TOK_TRY(sliding.status());
  return c;
}

ValueId attention(ModelBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("layers.{}.attn.", index);
  const auto part = [&](uint32_t number) {
    return packed_qkv(b, c, x, p + "Wqkv", number, c.attention_bias);
  };
  const auto turned = [&](ValueId heads) {
    return c.full[index] ? b.rotate(heads, c.head_dim(), c.rope_full, "rope.full")
                         : b.rotate(heads, c.head_dim(), c.rope_sliding, "rope.sliding");
  };
  ValueId q = turned(part(0));
  ValueId k = turned(part(1));
  ValueId v = part(2);
  ValueId o = attention_both_ways(b, c, q, k, v, c.full[index] ? 0 : c.window);
  return b.projection(o, p + "Wo", c.hidden, c.attention_bias);
}

ValueId mlp(ModelBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("layers.{}.mlp.", index);
  ValueId gate =
      b.projection(x, p + "Wi", {.first = 0, .count = c.ffn, .of = 2 * c.ffn}, c.mlp_bias);
  ValueId up =
      b.projection(x, p + "Wi", {.first = c.ffn, .count = c.ffn, .of = 2 * c.ffn}, c.mlp_bias);
  return b.projection(b.glu(c.activation, gate, up), p + "Wo", c.hidden, c.mlp_bias);
}

/// The graph up to the last blocks: what follows needs only some rows.
ValueId blocks(ModelBuilder& b, const Config& c) {
  ValueId table = b.matrix("embeddings.tok_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.normed(b.embed(b.token_ids(), table), "embeddings.norm", c.eps, c.norm_bias);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    const std::string p = fmt::format("layers.{}.", i);
    const ValueId h = i == 0 ? x : b.normed(x, p + "attn_norm", c.eps, c.norm_bias);
    x = b.add(x, attention(b, c, i, h));
    x = b.add(x, mlp(b, c, i, b.normed(x, p + "mlp_norm", c.eps, c.norm_bias)));
  }
  return x;
}

}  // namespace

Result<ModelFacts> modernbert_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return encoder_facts("ModernBertModel", c);
}

Result<Graph> build_modernbert(const ConfigReader& config, const TensorFile& file,
                               const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "model."}, "embeddings.tok_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  const ValueId x = b.output_rows(blocks(b, c));
  return b.finish_embedding(b.normed(x, "final_norm", c.eps, c.norm_bias));
}

Result<ModelFacts> modernbert_ranker_facts(const ConfigReader& config) {
  TOK_TRY(ModelFacts facts, modernbert_facts(config));
  TOK_TRY(facts.score, read_score_function(config));
  return facts;
}

Result<Graph> build_modernbert_ranker(const ConfigReader& whole, const TensorFile& file,
                                      const BuildOptions& options) {
  TOK_TRY(const Config c, read(whole));
  ConfigReader config = whole;
  const std::string pooling = config.word("classifier_pooling", "cls");
  const bool bias = config.flag("classifier_bias", false);
  const Activation activation = read_activation(config, "classifier_activation", "gelu");
  TOK_TRY(config.status());
  if (pooling != "cls" && pooling != "mean") {
    return unsupported("{} is \"{}\"; this engine knows cls and mean.",
                       config.path("classifier_pooling"), pooling);
  }
  ModelBuilder b(file, options, "model.");
  ValueId x = b.normed(blocks(b, c), "final_norm", c.eps, c.norm_bias);
  x = pooling == "cls" ? b.first_row(x) : b.mean_rows(x);
  x = b.activate(activation, b.projection(x, "/head.dense", c.hidden, bias));
  x = b.normed(x, "/head.norm", c.eps, c.norm_bias);
  return b.finish_logits(b.projection(x, "/classifier", 1, true));
}

}  // namespace tokamak
