// JinaBERT, the encoder of Jina Embeddings v2. Reference: jinaai/jina-bert-implementation and
// jinaai/jina-bert-v2-qk-post-norm, modeling_bert.py; arXiv:2310.19923.
//
// The differences from BERT:
//   no positions: the scores of a head fall with the distance, by a slope of its own (ALiBi,
//   arXiv:2108.12409), before and after the query alike
//   a gated FFN, whose gate and up are rows of one matrix, in most models the gate first
//   the models for code (qk-post-norm) have norms of whole q and k, one more after the sum with the
//   attention's output, and the gate last
#include <bit>
#include <cmath>

#include "model/arch/encoder.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct Config : EncoderConfig {
  uint32_t types = 0;
};

Result<Config> read(ConfigReader config) {
  Config c;
  TOK_TRY(static_cast<EncoderConfig&>(c), read_bert_fields(config, 0, "alibi"));
  c.types = config.size("type_vocab_size", 2);
  const std::string kind = config.word("feed_forward_type", "geglu");
  const std::string pooler = config.has("emb_pooler") ? config.word("emb_pooler", "") : "mean";
  TOK_TRY(config.status());
  if (c.activation != Activation::kGeluErf) {
    return unsupported("{} is not gelu, which this engine knows here.", config.path("hidden_act"));
  }
  if (kind == "reglu") {
    c.activation = Activation::kRelu;
  } else if (kind != "geglu") {
    return unsupported("{} is \"{}\"; this engine knows geglu and reglu.",
                       config.path("feed_forward_type"), kind);
  }
  if (pooler == "mean") return c;
  return unsupported("{} is \"{}\"; this engine knows mean.", config.path("emb_pooler"), pooler);
}

/// The slopes of a power of 2 begin at 2^(-8 / heads) and fall by that factor; other numbers of
/// heads have those of the power below and then every second of the power above.
std::vector<float> slopes_of(uint32_t heads) {
  const uint32_t below = std::bit_floor(heads);
  std::vector<float> slopes;
  for (uint32_t i = 0; i < heads; ++i) {
    const double step = i < below ? double(i + 1) / below : (2.0 * (i - below) + 1) / (2.0 * below);
    slopes.push_back(float(std::exp2(-8 * step)));
  }
  return slopes;
}

/// The names that the checkpoint has for the parts of a block.
struct Names {
  std::string gate, up, down, norm;
  bool normed = false;     // q and k
  bool gate_last = false;  // of the rows that gate and up have together
};

Names names_of(const ModelBuilder& b, const std::string& p) {
  Names names;
  names.normed = names.gate_last = b.has(p + "attention.self.layer_norm_q.weight");
  const bool is_older = b.has(p + "mlp.wo.weight") || b.has(p + "mlp.gated_layers.weight");
  names.up = p + (is_older ? "mlp.gated_layers" : "mlp.up_gated_layer");
  names.down = p + (is_older ? "mlp.wo" : "mlp.down_layer");
  names.norm = p + (is_older ? "mlp.layernorm" : "layer_norm_2");
  // GGUF files of before have them apart.
  if (b.has(p + "mlp.gate.weight")) names.gate = p + "mlp.gate";
  return names;
}

ValueId mlp(ModelBuilder& b, const Config& c, const Names& names, ValueId x) {
  const auto half = [&](bool last) {
    const ModelBuilder::Rows rows = {.first = last ? c.ffn : 0, .count = c.ffn, .of = 2 * c.ffn};
    return b.projection(x, names.up, rows);
  };
  const bool apart = !names.gate.empty();
  const ValueId gate = apart ? b.projection(x, names.gate, c.ffn) : half(names.gate_last);
  const ValueId up = apart ? b.projection(x, names.up, c.ffn) : half(!names.gate_last);
  return b.projection(b.glu(c.activation, gate, up), names.down, c.hidden, true);
}

ValueId block(ModelBuilder& b, const Config& c, uint32_t index, ValueId x, ValueId distances) {
  const std::string p = fmt::format("encoder.layer.{}.", index);
  const Names names = names_of(b, p);
  ValueId q = b.projection(x, p + "attention.self.query", c.hidden, true);
  ValueId k = b.projection(x, p + "attention.self.key", c.hidden, true);
  ValueId v = b.projection(x, p + "attention.self.value", c.hidden, true);
  if (names.normed) {
    q = b.normed(q, p + "attention.self.layer_norm_q", c.eps);
    k = b.normed(k, p + "attention.self.layer_norm_k", c.eps);
  }
  ValueId o = attention_both_ways(b, c, q, k, v, 0, distances);
  o = b.projection(o, p + "attention.output.dense", c.hidden, true);
  ValueId y = b.normed(b.add(x, o), p + "attention.output.LayerNorm", c.eps);
  if (names.normed) y = b.normed(b.add(x, y), p + "layer_norm_1", c.eps);
  return b.normed(b.add(y, mlp(b, c, names, y)), names.norm, c.eps);
}

ValueId hidden_states(ModelBuilder& b, const Config& c, uint32_t context) {
  ValueId words = b.matrix("embeddings.word_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), words);
  ValueId types = b.matrix("embeddings.token_type_embeddings.weight", c.types, c.hidden);
  x = b.add(x, b.embed(b.token_types(), types));
  x = b.normed(x, "embeddings.LayerNorm", c.eps);
  const ValueId distances = b.constant("distances", {2 * Dim{context} - 1, c.heads}, DType::kF32,
                                       Slopes{slopes_of(c.heads)});
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = block(b, c, i, x, distances);
  return x;
}

}  // namespace

Result<ModelFacts> jina_bert_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return encoder_facts("JinaBertModel", c);
}

Result<Graph> build_jina_bert(const ConfigReader& config, const TensorFile& file,
                              const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "bert."}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  return b.finish_embedding(b.output_rows(hidden_states(b, c, options.context)));
}

Result<ModelFacts> jina_bert_ranker_facts(const ConfigReader& config) {
  TOK_TRY(ModelFacts facts, jina_bert_facts(config));
  TOK_TRY(facts.score, read_score_function(config));
  return facts;
}

Result<Graph> build_jina_bert_ranker(const ConfigReader& config, const TensorFile& file,
                                     const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "bert."}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  ValueId x = b.first_row(hidden_states(b, c, options.context));
  x = b.activate(Activation::kTanh, b.projection(x, "pooler.dense", c.hidden, true));
  return b.finish_logits(b.projection(x, "/classifier", 1, true));
}

}  // namespace tokamak
