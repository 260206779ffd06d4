// Whisper. Reference: transformers/models/whisper/modeling_whisper.py; arXiv:2212.04356.
//
//   two convolutions over log-mel features of a window of one length, which is 30 s in all models
//   that there are; sounds that are shorter are followed by silence
//   learned positions on both sides, GELU, biases everywhere but on keys, norms before each part
#include "model/arch/whisper.h"

#include <cmath>

#include "model/decoder_fields.h"

namespace tokamak {
namespace whisper {
namespace {

Result<Half> read_half(ConfigReader& config, const std::string& side, uint32_t hidden) {
  Half half;
  half.layers = config.size(side + "_layers");
  half.heads = config.size(side + "_attention_heads");
  half.ffn = config.size(side + "_ffn_dim");
  TOK_TRY(config.status());
  if (half.layers > kMaxLayers || hidden % half.heads != 0) {
    return invalid_input("{}: {} layers with {} heads of {} elements together.", config.path(side),
                         half.layers, half.heads, hidden);
  }
  TOK_TRY(check_heads(config, half.heads, half.heads, hidden / half.heads));
  return half;
}

}  // namespace

Result<Config> read(ConfigReader config) {
  Config c;
  c.vocab = config.size("vocab_size");
  c.hidden = config.size("d_model");
  c.bins = config.size("num_mel_bins", 80);
  c.start = start_token(config, 50258, c.vocab);
  c.activation = read_activation(config, "activation_function", "gelu");
  c.tied = config.flag("tie_word_embeddings", true);
  if (config.flag("scale_embedding", false)) c.embedding_scale = std::sqrt(float(c.hidden));
  TOK_TRY(config.status());
  TOK_TRY(c.encoder, read_half(config, "encoder", c.hidden));
  TOK_TRY(c.decoder, read_half(config, "decoder", c.hidden));
  c.encoder.positions = config.size("max_source_positions", 1500);
  c.decoder.positions = config.size("max_target_positions", 448);
  TOK_TRY(config.status());
  constexpr uint32_t kMaxFrames = 15000;  // five minutes
  if (c.encoder.positions > kMaxFrames || c.bins > 1024) {
    return unsupported("{}: windows of {} rows with {} bins, expected at most {} and 1024.",
                       config.where(), c.encoder.positions, c.bins, kMaxFrames);
  }
  return c;
}

Heads heads(SpeechBuilder& b, const Config& c, const std::string& p, ValueId x) {
  ValueId q = b.projection(x, p + "q_proj", c.hidden, true);
  ValueId k = b.projection(x, p + "k_proj", c.hidden);
  ValueId v = b.projection(x, p + "v_proj", c.hidden, true);
  return {q, k, v};
}

ValueId mlp(SpeechBuilder& b, const Config& c, const Half& half, const std::string& p, ValueId x) {
  ValueId f = b.projection(b.normed(x, p + "final_layer_norm", kEps), p + "fc1", half.ffn, true);
  return b.add(x, b.projection(b.activate(c.activation, f), p + "fc2", c.hidden, true));
}

namespace {

ValueId decoder_block(SpeechBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("decoder.layers.{}.", index);
  const uint32_t own_dim = c.head_dim(c.decoder);
  ValueId h = b.normed(x, p + "self_attn_layer_norm", kEps);
  const auto [q, k, v] = heads(b, c, p + "self_attn.", h);
  ValueId o = b.cached_attention(index, q, k, v, c.decoder.heads, own_dim,
                                 {.scale = 1 / std::sqrt(float(own_dim))});
  x = b.add(x, b.projection(o, p + "self_attn.out_proj", c.hidden, true));
  h = b.normed(x, p + "encoder_attn_layer_norm", kEps);
  h = b.projection(h, p + "encoder_attn.q_proj", c.hidden, true);
  h = b.cross_attention(index, h, c.decoder.heads, own_dim);
  x = b.add(x, b.projection(h, p + "encoder_attn.out_proj", c.hidden, true));
  return mlp(b, c, c.decoder, p, x);
}

}  // namespace
}  // namespace whisper

Result<ModelFacts> whisper_facts(const ConfigReader& config) {
  TOK_TRY(const whisper::Config c, whisper::read(config));
  ModelFacts facts{"WhisperForConditionalGeneration", c.vocab, c.decoder.layers,
                   c.decoder.positions, c.hidden};
  facts.hears = true;
  return facts;
}

Result<Graph> build_whisper(const ConfigReader& config, const TensorFile& file,
                            const BuildOptions& options) {
  TOK_TRY(const whisper::Config c, whisper::read(config));
  SpeechBuilder b(file, options, "model.", c.encoder.positions);
  ValueId table = b.matrix("decoder.embed_tokens.weight", c.vocab, c.hidden);
  ValueId x = b.embedded(table, c.embedding_scale);
  x = b.with_positions(x, "decoder.embed_positions.weight", c.decoder.positions, 0);
  for (uint32_t i = 0; i < c.decoder.layers && b.ok(); ++i) x = whisper::decoder_block(b, c, i, x);
  x = b.normed(b.output_rows(x), "decoder.layer_norm", whisper::kEps);
  if (!c.tied) table = b.matrix("/proj_out.weight", c.vocab, c.hidden);
  return b.finish_logits(b.linear(x, table));
}

}  // namespace tokamak
