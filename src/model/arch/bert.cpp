// BERT, RoBERTa and XLM-RoBERTa, and cross-encoders made of them. Reference:
// transformers/models/bert/modeling_bert.py, roberta/modeling_roberta.py; arXiv:1810.04805,
// arXiv:1907.11692, arXiv:1911.02116.
//
//   learned positions: RoBERTa's begin after the padding token's, pad_token_id + 1
//   the two texts of a pair are told apart by a row of token_type_embeddings (BERT)
//   attention both ways, norms after the additions, biases everywhere
//   a ranker has a layer with tanh over the first row, BERT's pooler or RoBERTa's own, then a row
#include "model/arch/encoder.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct Config : EncoderConfig {
  uint32_t offset = 0, types = 0;
};

enum class Family : uint8_t { kBert, kRoberta };

Result<Config> read(ConfigReader config, Family family) {
  Config c;
  c.offset = family == Family::kRoberta ? config.count("pad_token_id", 1) + 1 : 0;
  c.types = config.size("type_vocab_size", family == Family::kRoberta ? 1 : 2);
  TOK_TRY(config.status());
  TOK_TRY(static_cast<EncoderConfig&>(c), read_bert_fields(config, c.offset));
  return c;
}

ValueId hidden_states(ModelBuilder& b, const Config& c) {
  constexpr BlockNames kNames = {"attention.self.query", "attention.self.key",
                                 "attention.self.value", "attention.output.dense",
                                 "attention.output.LayerNorm"};
  ValueId words = b.matrix("embeddings.word_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), words);
  ValueId types = b.matrix("embeddings.token_type_embeddings.weight", c.types, c.hidden);
  x = b.add(x, b.embed(b.token_types(), types));
  x = b.with_positions(x, "embeddings.position_embeddings.weight", c.max_context + c.offset,
                       c.offset);
  x = b.normed(x, "embeddings.LayerNorm", c.eps);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = bert_block(b, c, i, kNames, x);
  return x;
}

Result<ModelFacts> facts(const ConfigReader& config, Family family, bool ranks) {
  TOK_TRY(const Config c, read(config, family));
  ModelFacts facts = encoder_facts(family == Family::kBert ? "BertModel" : "RobertaModel", c);
  if (ranks) {
    TOK_TRY(facts.score, read_score_function(config));
  }
  return facts;
}

Result<Graph> build(const ConfigReader& config, const TensorFile& file, const BuildOptions& options,
                    Family family, bool ranks) {
  TOK_TRY(const Config c, read(config, family));
  const char* prefix = family == Family::kBert ? "bert." : "roberta.";
  TOK_TRY(const std::string found,
          find_prefix(file, {"", prefix}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, found);
  ValueId x = hidden_states(b, c);
  if (!ranks) return b.finish_embedding(b.output_rows(x));
  const bool is_bert = family == Family::kBert;
  x = b.projection(b.first_row(x), is_bert ? "pooler.dense" : "/classifier.dense", c.hidden, true);
  x = b.activate(Activation::kTanh, x);
  return b.finish_logits(
      b.projection(x, is_bert ? "/classifier" : "/classifier.out_proj", 1, true));
}

}  // namespace

Result<ModelFacts> bert_facts(const ConfigReader& config) {
  return facts(config, Family::kBert, false);
}
Result<Graph> build_bert(const ConfigReader& config, const TensorFile& file,
                         const BuildOptions& options) {
  return build(config, file, options, Family::kBert, false);
}
Result<ModelFacts> bert_ranker_facts(const ConfigReader& config) {
  return facts(config, Family::kBert, true);
}
Result<Graph> build_bert_ranker(const ConfigReader& config, const TensorFile& file,
                                const BuildOptions& options) {
  return build(config, file, options, Family::kBert, true);
}
Result<ModelFacts> roberta_facts(const ConfigReader& config) {
  return facts(config, Family::kRoberta, false);
}
Result<Graph> build_roberta(const ConfigReader& config, const TensorFile& file,
                            const BuildOptions& options) {
  return build(config, file, options, Family::kRoberta, false);
}
Result<ModelFacts> roberta_ranker_facts(const ConfigReader& config) {
  return facts(config, Family::kRoberta, true);
}
Result<Graph> build_roberta_ranker(const ConfigReader& config, const TensorFile& file,
                                   const BuildOptions& options) {
  return build(config, file, options, Family::kRoberta, true);
}

}  // namespace tokamak
