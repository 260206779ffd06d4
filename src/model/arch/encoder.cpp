#include "model/arch/encoder.h"

#include <cmath>

#include "model/decoder_fields.h"

namespace tokamak {

Result<ScoreFunction> read_score_function(const ConfigReader& whole) {
  ConfigReader config = whole;
  const Json* labels = config.find("id2label");
  const size_t count = labels != nullptr && labels->is_object() ? labels->as_object().size()
                                                                : config.size("num_labels", 2);
  ConfigReader own = config.at("sentence_transformers");
  std::string name = own.word("activation_fn", "");
  if (name.empty()) name = config.word("sbert_ce_default_activation_function", "Sigmoid");
  TOK_TRY(own.status());
  TOK_TRY(config.status());
  if (count != 1) {
    return unsupported("{} has {} labels; this engine runs classifiers of one, which ranks texts.",
                       config.path("id2label"), count);
  }
  name = name.substr(name.rfind('.') + 1);
  if (name == "Sigmoid") return ScoreFunction::kSigmoid;
  if (name == "Identity") return ScoreFunction::kIdentity;
  return unsupported("{} is {}; this engine knows Sigmoid and Identity.", own.path("activation_fn"),
                     name);
}

ModelFacts encoder_facts(const char* architecture, const EncoderConfig& c) {
  ModelFacts facts = {architecture, c.vocab, c.layers, c.max_context, c.hidden, false};
  facts.fits_f16 = true;
  return facts;
}

Result<EncoderConfig> read_bert_fields(ConfigReader& config, uint32_t offset,
                                       std::string_view positions) {
  EncoderConfig c;
  c.vocab = config.size("vocab_size");
  c.hidden = config.size("hidden_size");
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads");
  c.ffn = config.size("intermediate_size");
  const uint32_t rows = config.size("max_position_embeddings", 512);
  c.eps = float(config.positive("layer_norm_eps", 1e-12));
  c.activation = read_activation(config, "hidden_act", "gelu");
  const std::string found = config.word("position_embedding_type", "absolute");
  const bool is_decoder = config.flag("is_decoder", false);
  TOK_TRY(config.status());
  if (found != positions) {
    return unsupported("{} is \"{}\"; this engine knows {} positions here.",
                       config.path("position_embedding_type"), found, positions);
  }
  if (is_decoder) {
    return unsupported("{} is true; this engine runs this architecture as an encoder.",
                       config.path("is_decoder"));
  }
  if (rows <= offset) {
    return invalid_input("{} is {}, expected more than {}.", config.path("max_position_embeddings"),
                         rows, offset);
  }
  c.max_context = rows - offset;
  const uint32_t head_dim = read_head_dim(config, c.hidden, c.heads);
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.heads, head_dim));
  return c;
}

ValueId attention_both_ways(ModelBuilder& b, const EncoderConfig& c, ValueId q, ValueId k,
                            ValueId v, uint32_t window, std::optional<ValueId> bias) {
  const Attention attention{
      .scale = 1 / std::sqrt(float(c.head_dim())), .window = window, .causal = false};
  constexpr uint32_t kOneCache = 0;  // for all layers: nothing reads a layer's keys after it
  return b.cached_attention(kOneCache, q, k, v, c.heads, c.head_dim(), attention, bias);
}

ValueId bert_block(ModelBuilder& b, const EncoderConfig& c, uint32_t index, const BlockNames& names,
                   ValueId x, std::optional<ValueId> bias) {
  const std::string p = fmt::format("{}.{}.", names.layers, index);
  ValueId q = b.projection(x, p + names.q, c.hidden, true);
  ValueId k = b.projection(x, p + names.k, c.hidden, true);
  ValueId v = b.projection(x, p + names.v, c.hidden, true);
  ValueId o = attention_both_ways(b, c, q, k, v, 0, bias);
  o = b.projection(o, p + names.o, c.hidden, true);
  x = b.normed(b.add(x, o), p + names.attention_norm, c.eps);
  ValueId f = b.projection(x, p + names.up, c.ffn, true);
  f = b.projection(b.activate(c.activation, f), p + names.down, c.hidden, true);
  return b.normed(b.add(x, f), p + names.last_norm, c.eps);
}

ValueId packed_qkv(ModelBuilder& b, const EncoderConfig& c, ValueId x, const std::string& name,
                   uint32_t part, bool bias) {
  return b.projection(x, name, {.first = part * c.hidden, .count = c.hidden, .of = 3 * c.hidden},
                      bias);
}

}  // namespace tokamak
