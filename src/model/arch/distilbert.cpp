// DistilBERT. Reference: transformers/models/distilbert/modeling_distilbert.py; arXiv:1910.01108.
//
// The differences from BERT:
//   there are no token types; the table of positions may be one of sines, which the file has, too
//   the config and the tensors have names of their own
#include "model/arch/encoder.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

constexpr float kEps = 1e-12f;

Result<EncoderConfig> read(ConfigReader config) {
  EncoderConfig c;
  c.vocab = config.size("vocab_size");
  c.hidden = config.size("dim");
  c.layers = read_layers(config, "n_layers");
  c.heads = config.size("n_heads");
  c.ffn = config.size("hidden_dim");
  c.max_context = config.size("max_position_embeddings", 512);
  c.eps = kEps;
  c.activation = read_activation(config, "activation", "gelu");
  TOK_TRY(config.status());
  if (c.hidden % c.heads != 0) {
    return invalid_input("{} is {}, expected a multiple of n_heads, {}.", config.path("dim"),
                         c.hidden, c.heads);
  }
  TOK_TRY(check_heads(config, c.heads, c.heads, c.head_dim()));
  return c;
}

}  // namespace

Result<ModelFacts> distilbert_facts(const ConfigReader& config) {
  TOK_TRY(const EncoderConfig c, read(config));
  return encoder_facts("DistilBertModel", c);
}

Result<Graph> build_distilbert(const ConfigReader& config, const TensorFile& file,
                               const BuildOptions& options) {
  constexpr BlockNames kNames = {.q = "attention.q_lin",
                                 .k = "attention.k_lin",
                                 .v = "attention.v_lin",
                                 .o = "attention.out_lin",
                                 .attention_norm = "sa_layer_norm",
                                 .layers = "transformer.layer",
                                 .up = "ffn.lin1",
                                 .down = "ffn.lin2",
                                 .last_norm = "output_layer_norm"};
  TOK_TRY(const EncoderConfig c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "distilbert."}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  ValueId words = b.matrix("embeddings.word_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), words);
  x = b.with_positions(x, "embeddings.position_embeddings.weight", c.max_context, 0);
  x = b.normed(x, "embeddings.LayerNorm", c.eps);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = bert_block(b, c, i, kNames, x);
  return b.finish_embedding(b.output_rows(x));
}

}  // namespace tokamak
