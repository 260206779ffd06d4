#include <cmath>

#include "model/arch/moonshine.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {

Result<PairedHeads> read_paired_heads(ConfigReader& config, uint32_t count, uint32_t hidden,
                                      double part) {
  PairedHeads heads{.count = count, .dim = read_head_dim(config, hidden, count)};
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, count, count, heads.dim));
  part = read_rope_field(config, "partial_rotary_factor", part);
  TOK_TRY(const uint32_t turned, rotary_size(config, part, heads.dim));
  ConfigReader fields = rope_fields(config);
  uint32_t positions = 0;
  heads.rope = read_rope(fields, read_rope_field(config, "rope_theta", 10000), turned, positions);
  TOK_TRY(fields.status());
  heads.rope.inverse_frequencies.resize(heads.dim / 2);  // what does not turn has frequency 0
  return heads;
}

ValueId turned_projection(SpeechBuilder& b, const PairedHeads& heads, ValueId x,
                          const std::string& name, const char* table) {
  const ValueId y = b.pairs_projection(x, name, heads.count * heads.dim, heads.count);
  return b.rotate(y, heads.dim, heads.rope, table);
}

ModelFacts moonshine_facts(const char* architecture, const MoonshineDecoder& c) {
  ModelFacts facts{architecture, c.vocab, c.layers, c.context, c.hidden};
  facts.hears = true;
  return facts;
}

namespace {

/// x: [T, hidden] -> [T, hidden]
ValueId attention(SpeechBuilder& b, const MoonshineDecoder& c, uint32_t layer, ValueId x) {
  const std::string p = fmt::format("decoder.layers.{}.self_attn.", layer);
  ValueId q = turned_projection(b, c.heads, x, p + "q_proj", "rope.decoder");
  ValueId k = turned_projection(b, c.heads, x, p + "k_proj", "rope.decoder");
  ValueId v = b.projection(x, p + "v_proj", c.heads.count * c.heads.dim);
  ValueId o = b.cached_attention(layer, q, k, v, c.heads.count, c.heads.dim,
                                 {.scale = 1 / std::sqrt(float(c.heads.dim))});
  return b.projection(o, p + "o_proj", c.hidden);
}

ValueId cross_attention(SpeechBuilder& b, const MoonshineDecoder& c, uint32_t layer, ValueId x) {
  const std::string p = fmt::format("decoder.layers.{}.encoder_attn.", layer);
  ValueId q = b.projection(x, p + "q_proj", c.heads.count * c.heads.dim);
  ValueId o = b.cross_attention(layer, q, c.heads.count, c.heads.dim);
  return b.projection(o, p + "o_proj", c.hidden);
}

ValueId mlp(SpeechBuilder& b, const MoonshineDecoder& c, const std::string& p, ValueId x) {
  ValueId up = b.projection(x, p + "fc1", {0, c.ffn, 2 * c.ffn}, true);
  ValueId gate = b.projection(x, p + "fc1", {c.ffn, c.ffn, 2 * c.ffn}, true);
  return b.projection(b.glu(c.activation, gate, up), p + "fc2", c.hidden, true);
}

}  // namespace

Result<Graph> build_moonshine_decoder(const MoonshineDecoder& c, const TensorFile& file,
                                      const BuildOptions& options, uint32_t frames) {
  SpeechBuilder b(file, options, "model.", frames);
  ValueId table = b.matrix("decoder.embed_tokens.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), table);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    const std::string p = fmt::format("decoder.layers.{}.", i);
    x = b.add(x, attention(b, c, i, b.normed(x, p + "input_layernorm", kMoonshineEps, false)));
    ValueId h = b.normed(x, p + "post_attention_layernorm", kMoonshineEps, false);
    x = b.add(x, cross_attention(b, c, i, h));
    x = b.add(x, mlp(b, c, p + "mlp.", b.normed(x, p + "final_layernorm", kMoonshineEps, false)));
  }
  x = b.normed(b.output_rows(x), "decoder.norm", kMoonshineEps, false);
  if (!c.tied) table = b.matrix("/proj_out.weight", c.vocab, c.hidden);
  return b.finish_logits(b.linear(x, table));
}

void keep_for_decoder(SpeechBuilder& b, const MoonshineDecoder& c, ValueId x) {
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    const std::string p = fmt::format("decoder.layers.{}.encoder_attn.", i);
    ValueId k = b.projection(x, p + "k_proj", c.heads.count * c.heads.dim);
    ValueId v = b.projection(x, p + "v_proj", c.heads.count * c.heads.dim);
    b.keep(i, k, v, c.heads.dim);
  }
}

}  // namespace tokamak
