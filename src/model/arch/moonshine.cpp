// Moonshine. Reference: transformers/models/moonshine/modeling_moonshine.py; arXiv:2410.15608.
//
//   three convolutions over the samples themselves, 384 of them for a row of the encoder; after the
//   first a norm over all of the sound
//   neighbours turn in pairs, in 0.9 of each head; layer norms without a bias
//   the encoder's layers have two matrices with an activation between them
#include "model/arch/moonshine.h"

#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct Config : MoonshineDecoder {
  struct {
    uint32_t layers = 0;
    Activation activation = Activation::kGeluErf;
    PairedHeads heads;
  } encoder;
};

/// Longer sounds come in pieces; the reference's own limit for their texts.
constexpr uint32_t kMaxSamples = 30 * 16000;
constexpr double kTokensPerSecond = 6.5;
constexpr Unfold kConvolutions[] = {
    {.taps = 127, .stride = 64}, {.taps = 7, .stride = 3}, {.taps = 3, .stride = 2}};

/// Most rows that stage `index` reads; of the number of stages, those of the encoder.
uint32_t max_rows(size_t index) {
  uint32_t rows = kMaxSamples;
  for (size_t i = 0; i < index; ++i) {
    rows = SoundStage{.graph = {}, .reads = kConvolutions[i]}.rows_of(rows);
  }
  return rows;
}

Result<Config> read(ConfigReader config) {
  Config c;
  c.vocab = config.size("vocab_size", 32768);
  c.hidden = config.size("hidden_size", 288);
  c.ffn = config.size("intermediate_size", 1152);
  c.context = config.size("max_position_embeddings", 512);
  c.start = start_token(config, 1, c.vocab);
  c.tied = config.flag("tie_word_embeddings", true);
  c.layers = config.size("decoder_num_hidden_layers", 6);
  c.activation = read_activation(config, "decoder_hidden_act", "silu");
  c.encoder.layers = config.size("encoder_num_hidden_layers", 6);
  c.encoder.activation = read_activation(config, "encoder_hidden_act", "gelu");
  const bool bias = config.flag("attention_bias", false);
  uint32_t heads[2] = {};
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const std::string side = i == 0 ? "encoder" : "decoder";
    heads[i] = config.size(side + "_num_attention_heads", 8);
    const uint32_t kv_heads = config.size(side + "_num_key_value_heads", heads[i]);
    TOK_TRY(config.status());
    if (kv_heads != heads[i]) {
      return unsupported("{} is {}, expected as many as there are query heads, {}.",
                         config.path(side + "_num_key_value_heads"), kv_heads, heads[i]);
    }
  }
  TOK_TRY(config.status());
  if (bias) return unsupported("{} is true, expected false.", config.path("attention_bias"));
  if (c.layers > kMaxLayers || c.encoder.layers > kMaxLayers) {
    return invalid_input("{}: {} and {} layers, expected at most {}.", config.where(),
                         c.encoder.layers, c.layers, kMaxLayers);
  }
  TOK_TRY(c.encoder.heads, read_paired_heads(config, heads[0], c.hidden, 0.9));
  TOK_TRY(c.heads, read_paired_heads(config, heads[1], c.hidden, 0.9));
  TOK_TRY(config.status());
  return c;
}

ValueId block(SpeechBuilder& b, const Config& c, const std::string& p, ValueId x) {
  const PairedHeads& heads = c.encoder.heads;
  ValueId h = b.normed(x, p + "input_layernorm", kMoonshineEps, false);
  ValueId q = turned_projection(b, heads, h, p + "self_attn.q_proj", "rope.encoder");
  ValueId k = turned_projection(b, heads, h, p + "self_attn.k_proj", "rope.encoder");
  ValueId v = b.projection(h, p + "self_attn.v_proj", heads.count * heads.dim);
  ValueId o = b.attention_both_ways(q, k, v, heads.dim);
  x = b.add(x, b.projection(o, p + "self_attn.o_proj", c.hidden));
  h = b.normed(x, p + "post_attention_layernorm", kMoonshineEps, false);
  ValueId f = b.activate(c.encoder.activation, b.projection(h, p + "mlp.fc1", c.ffn, true));
  return b.add(x, b.projection(f, p + "mlp.fc2", c.hidden, true));
}

Result<Graph> stage_graph(const Config& c, size_t index, const TensorFile& file,
                          BuildOptions options) {
  options.context = max_rows(std::size(kConvolutions));
  SpeechBuilder b(file, options, "model.", options.context);
  const uint32_t columns[] = {1, c.hidden, 2 * c.hidden, c.hidden};
  ValueId x = b.convolution(index, max_rows(index), columns[index],
                            fmt::format("encoder.conv{}", index + 1), columns[index + 1],
                            kConvolutions[index], index > 0);
  if (index == 0) {
    x = b.activate(Activation::kTanh, x);
    ValueId w = b.vector("encoder.groupnorm.weight", c.hidden);
    return b.finish(b.group_norm(x, w, b.vector("encoder.groupnorm.bias", c.hidden), 1e-5f));
  }
  x = b.activate(Activation::kGeluErf, x);
  if (index == 1) return b.finish(x);
  for (uint32_t i = 0; i < c.encoder.layers && b.ok(); ++i) {
    x = block(b, c, fmt::format("encoder.layers.{}.", i), x);
  }
  x = b.normed(x, "encoder.layer_norm", kMoonshineEps, false);
  keep_for_decoder(b, c, x);
  return b.finish(x);
}

}  // namespace

Result<ModelFacts> moonshine_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return moonshine_facts("MoonshineForConditionalGeneration", c);
}

Result<Graph> build_moonshine(const ConfigReader& config, const TensorFile& file,
                              const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  return build_moonshine_decoder(c, file, options, max_rows(std::size(kConvolutions)));
}

Result<SpeechModel> build_moonshine_speech(const ConfigReader& config, const TensorFile& file,
                                           const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  SpeechModel model{
      .max_samples = kMaxSamples, .start = c.start, .tokens_per_second = kTokensPerSecond};
  for (size_t i = 0; i < std::size(kConvolutions); ++i) {
    TOK_TRY(Graph graph, stage_graph(c, i, file, options));
    model.stages.push_back({std::move(graph), max_rows(i + 1), kConvolutions[i]});
  }
  return model;
}

}  // namespace tokamak
