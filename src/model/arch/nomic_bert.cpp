// NomicBERT. Reference: nomic-ai/nomic-bert-2048, modeling_hf_nomic_bert.py, and
// transformers/models/nomic_bert/modeling_nomic_bert.py; arXiv:2402.01613.
//
// The differences from BERT:
//   rotary positions; q, k and v are rows of one matrix; a gated FFN, fc12 the gate
//   biases in the norms only, as a rule
//   the config has GPT-2's names, or in newer files BERT's
#include "model/arch/encoder.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

struct Config : EncoderConfig {
  uint32_t types = 0;
  bool qkv_bias = false, up_bias = false, down_bias = false;
  RopeTable rope;
};

/// The fields that published models leave as they are.
Result<void> check_plain(ConfigReader& config) {
  for (const char* name :
       {"prenorm", "parallel_block", "use_rms_norm", "causal", "rotary_emb_interleaved"}) {
    if (config.flag(name, false)) {
      config.reject({ErrorCode::kUnsupported,
                     fmt::format("{} is true; this engine knows false.", config.path(name))});
    }
  }
  for (const char* name : {"rotary_emb_scale_base", "moe_every_n_layers"}) {
    if (config.has(name)) {
      config.reject({ErrorCode::kUnsupported,
                     fmt::format("{} is not null; this engine knows null.", config.path(name))});
    }
  }
  return config.status();
}

/// With GPT-2's names.
Result<Config> read_older(ConfigReader& config) {
  TOK_TRY(check_plain(config));
  Config c;
  c.hidden = config.size("n_embd");
  c.layers = config.size("n_layer");
  c.heads = config.size("n_head");
  c.ffn = config.has("n_inner") ? config.size("n_inner") : 4 * c.hidden;
  c.max_context = config.size("n_positions", 2048);
  // Beyond them, the reference turns by other angles where it has such a factor.
  if (config.has("rotary_scaling_factor")) {
    c.max_context = std::min(c.max_context, config.size("max_trained_positions", 2048));
  }
  c.eps = float(config.positive("layer_norm_epsilon", 1e-12));
  c.qkv_bias = config.flag("qkv_proj_bias", false);
  c.up_bias = config.flag("mlp_fc1_bias", false);
  c.down_bias = config.flag("mlp_fc2_bias", false);
  const std::string activation = config.word("activation_function", "swiglu");
  if (activation == "swiglu") {
    c.activation = Activation::kSilu;
  } else if (activation != "geglu") {
    config.reject(
        {ErrorCode::kUnsupported, fmt::format("{} is \"{}\"; this engine knows swiglu and geglu.",
                                              config.path("activation_function"), activation)});
  }
  return c;
}

Result<Config> read_newer(ConfigReader& config) {
  Config c;
  TOK_TRY(static_cast<EncoderConfig&>(c), read_bert_fields(config, 0));
  return c;
}

Result<Config> read(ConfigReader config) {
  const bool is_older = config.has("n_embd");
  TOK_TRY(Config c, is_older ? read_older(config) : read_newer(config));
  c.vocab = config.size("vocab_size");
  c.types = config.size("type_vocab_size", 2);
  const double theta = config.positive("rotary_emb_base", 1000);
  const double part = config.positive("rotary_emb_fraction", 1.0);
  TOK_TRY(config.status());
  const uint32_t head_dim = read_head_dim(config, c.hidden, c.heads);
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.heads, head_dim));
  TOK_TRY(const uint32_t rotary, rotary_size(config, part, head_dim));
  ConfigReader fields = rope_fields(config);
  c.rope = read_rope(fields, theta, rotary, c.max_context);
  TOK_TRY(fields.status());
  return c;
}

ValueId block(ModelBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("encoder.layers.{}.", index);
  const auto part = [&](uint32_t number) {
    return packed_qkv(b, c, x, p + "attn.Wqkv", number, c.qkv_bias);
  };
  ValueId q = b.rotate(part(0), c.head_dim(), c.rope, "rope");
  ValueId k = b.rotate(part(1), c.head_dim(), c.rope, "rope");
  ValueId v = part(2);
  ValueId o = attention_both_ways(b, c, q, k, v);
  o = b.projection(o, p + "attn.out_proj", c.hidden, c.qkv_bias);
  x = b.normed(b.add(x, o), p + "norm1", c.eps);
  ValueId gate = b.projection(x, p + "mlp.fc12", c.ffn, c.up_bias);
  ValueId up = b.projection(x, p + "mlp.fc11", c.ffn, c.up_bias);
  ValueId f = b.projection(b.glu(c.activation, gate, up), p + "mlp.fc2", c.hidden, c.down_bias);
  return b.normed(b.add(x, f), p + "norm2", c.eps);
}

}  // namespace

Result<ModelFacts> nomic_bert_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return encoder_facts("NomicBertModel", c);
}

Result<Graph> build_nomic_bert(const ConfigReader& config, const TensorFile& file,
                               const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "bert."}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  ValueId words = b.matrix("embeddings.word_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), words);
  ValueId types = b.matrix("embeddings.token_type_embeddings.weight", c.types, c.hidden);
  x = b.add(x, b.embed(b.token_types(), types));
  x = b.normed(x, "emb_ln", c.eps);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = block(b, c, i, x);
  return b.finish_embedding(b.output_rows(x));
}

}  // namespace tokamak
