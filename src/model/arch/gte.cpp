// GTE's encoder, as multilingual GTE and Arctic Embed 2 have it, and cross-encoders made of it.
// Reference: Alibaba-NLP/new-impl, modeling.py; arXiv:2407.19669.
//
// The differences from BERT:
//   rotary positions, stretched by NTK; token types only where the config has some
//   q, k and v are rows of one matrix; a gated FFN whose matrix has the gate last, without a bias
#include <cmath>

#include "model/arch/encoder.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

struct Config : EncoderConfig {
  uint32_t types = 0;
  RopeTable rope;
};

/// Frequencies of base theta, or where a factor s stretches them of base s theta, divided by
/// s^(2/d) (kexue.fm/archives/9706).
Result<RopeTable> read_stretched(ConfigReader& config, double theta, uint32_t head_dim,
                                 uint32_t& max_context) {
  ConfigReader fields = rope_fields(config);
  const std::string type = fields.word("type", "default");
  const double factor = type == "ntk" ? fields.positive("factor") : 1;
  if (type != "ntk" && type != "default") {
    fields.reject({ErrorCode::kUnsupported, fmt::format("{} is \"{}\"; this architecture has ntk.",
                                                        fields.path("type"), type)});
  }
  if (fields.has("mixed_b")) {
    fields.reject({ErrorCode::kUnsupported,
                   fmt::format("{} is not null; this engine knows null.", fields.path("mixed_b"))});
  }
  TOK_TRY(fields.status());
  const Json plain{Json::Object{}};
  ConfigReader none(plain, config.where());
  RopeTable table = read_rope(none, theta * factor, head_dim, max_context);
  for (float& f : table.inverse_frequencies) f /= float(std::pow(factor, 2.0 / head_dim));
  return table;
}

Result<Config> read(ConfigReader config) {
  Config c;
  c.vocab = config.size("vocab_size");
  c.hidden = config.size("hidden_size");
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads");
  c.ffn = config.size("intermediate_size");
  c.max_context = config.size("max_position_embeddings", 2048);
  c.eps = float(config.positive("layer_norm_eps", 1e-12));
  c.types = config.count("type_vocab_size", 1);
  c.activation = read_activation(config, "hidden_act", "gelu");
  const double theta = config.positive("rope_theta", 10000.0);
  const std::string positions = config.word("position_embedding_type", "rope");
  const std::string norms = config.word("layer_norm_type", "layer_norm");
  const uint32_t head_dim = read_head_dim(config, c.hidden, c.heads);
  TOK_TRY(config.status());
  TOK_TRY(refuse_flag(config, "logn_attention_scale", "without scales of queries"));
  if (positions != "rope" || norms != "layer_norm" || !config.flag("pack_qkv", true)) {
    return unsupported(
        "{}: this engine runs this architecture with position_embedding_type rope, "
        "layer_norm_type layer_norm and pack_qkv.",
        config.where());
  }
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.heads, head_dim));
  TOK_TRY(c.rope, read_stretched(config, theta, head_dim, c.max_context));
  return c;
}

ValueId block(ModelBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("encoder.layer.{}.", index);
  const auto part = [&](uint32_t number) {
    return packed_qkv(b, c, x, p + "attention.qkv_proj", number, true);
  };
  ValueId q = b.rotate(part(0), c.head_dim(), c.rope, "rope");
  ValueId k = b.rotate(part(1), c.head_dim(), c.rope, "rope");
  ValueId v = part(2);
  ValueId o = attention_both_ways(b, c, q, k, v);
  o = b.projection(o, p + "attention.o_proj", c.hidden, true);
  x = b.normed(b.add(x, o), p + "attn_ln", c.eps);
  const std::string joined = p + "mlp.up_gate_proj";
  ValueId gate = b.projection(x, joined, {.first = c.ffn, .count = c.ffn, .of = 2 * c.ffn});
  ValueId up = b.projection(x, joined, {.first = 0, .count = c.ffn, .of = 2 * c.ffn});
  ValueId f = b.projection(b.glu(c.activation, gate, up), p + "mlp.down_proj", c.hidden, true);
  return b.normed(b.add(x, f), p + "mlp_ln", c.eps);
}

ValueId hidden_states(ModelBuilder& b, const Config& c) {
  ValueId words = b.matrix("embeddings.word_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), words);
  if (c.types > 0) {
    ValueId types = b.matrix("embeddings.token_type_embeddings.weight", c.types, c.hidden);
    x = b.add(x, b.embed(b.token_types(), types));
  }
  x = b.normed(x, "embeddings.LayerNorm", c.eps);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = block(b, c, i, x);
  return x;
}

Result<Graph> build(const ConfigReader& config, const TensorFile& file, const BuildOptions& options,
                    bool ranks) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "new.", "gte."}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  ValueId x = hidden_states(b, c);
  if (!ranks) return b.finish_embedding(b.output_rows(x));
  x = b.projection(b.first_row(x), "pooler.dense", c.hidden, true);
  x = b.activate(Activation::kTanh, x);
  return b.finish_logits(b.projection(x, "/classifier", 1, true));
}

}  // namespace

Result<ModelFacts> gte_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return encoder_facts("NewModel", c);
}
Result<Graph> build_gte(const ConfigReader& config, const TensorFile& file,
                        const BuildOptions& options) {
  return build(config, file, options, false);
}
Result<ModelFacts> gte_ranker_facts(const ConfigReader& config) {
  TOK_TRY(ModelFacts facts, gte_facts(config));
  TOK_TRY(facts.score, read_score_function(config));
  return facts;
}
Result<Graph> build_gte_ranker(const ConfigReader& config, const TensorFile& file,
                               const BuildOptions& options) {
  return build(config, file, options, true);
}

}  // namespace tokamak
