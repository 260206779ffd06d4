// Moonshine's streaming models. Reference:
// transformers/models/moonshine_streaming/modeling_moonshine_streaming.py.
//
//   frames of 80 samples, made equally loud; two convolutions that look back only, 20 ms for a row
//   the encoder knows no positions: each layer sees some rows back and few or none ahead, so that
//   rows are final soon after their sound
//   rows get positions, and the decoder's width, where the decoder takes them; it is Moonshine's
#include <cmath>

#include "model/arch/moonshine_streaming_config.h"
#include "model/scalar.h"

namespace tokamak {
namespace {

using Config = MoonshineStreaming;

constexpr double kTokensPerSecond = 6.5;
constexpr Unfold kConvolutions[] = {
    {.taps = 1}, {.taps = 5, .stride = 2, .pad = 4}, {.taps = 5, .stride = 2, .pad = 4}};

ValueId block(SpeechBuilder& b, const StreamingEncoder& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("encoder.layers.{}.", index);
  const uint32_t width = c.heads * c.head_dim;
  const auto normed = [&](ValueId rows, const char* name) {
    return b.layer_norm(rows, b.vector(p + name, c.hidden, true), kMoonshineEps);
  };
  ValueId h = normed(x, "input_layernorm.gamma");
  ValueId q = b.projection(h, p + "self_attn.q_proj", width);
  ValueId k = b.projection(h, p + "self_attn.k_proj", width);
  ValueId v = b.projection(h, p + "self_attn.v_proj", width);
  ValueId o =
      b.attention_in_window(q, k, v, c.head_dim, c.windows[index].back, c.windows[index].ahead);
  x = b.add(x, b.projection(o, p + "self_attn.o_proj", c.hidden));
  h = normed(x, "post_attention_layernorm.gamma");
  ValueId f = b.activate(c.activation, b.projection(h, p + "mlp.fc1", c.ffn, true));
  return b.add(x, b.projection(f, p + "mlp.fc2", c.hidden, true));
}

Result<Graph> stage_graph(const Config& c, size_t index, const TensorFile& file,
                          const BuildOptions& options) {
  SpeechBuilder b(file, options, "model.", c.max_rows());
  const uint32_t hidden = c.encoder.hidden;
  const uint32_t columns[] = {Config::kFrameSamples, hidden, 2 * hidden, hidden};
  const char* const names[] = {"linear", "conv1", "conv2"};
  const uint32_t rows = c.max_rows() * (index < 2 ? 4 : 2);
  ValueId x =
      b.convolution(index, rows, columns[index], fmt::format("encoder.embedder.{}", names[index]),
                    columns[index + 1], kConvolutions[index], index > 0);
  if (index < 2) return b.finish(b.activate(Activation::kSilu, x));
  for (uint32_t i = 0; i < c.encoder.windows.size() && b.ok(); ++i) x = block(b, c.encoder, i, x);
  x = b.layer_norm(x, b.vector("encoder.final_norm.gamma", hidden, true), kMoonshineEps);
  ValueId placed = b.with_positions(x, "decoder.pos_emb.weight", c.decoder.context, 0);
  if (c.decoder.hidden != hidden) placed = b.projection(placed, "decoder.proj", c.decoder.hidden);
  keep_for_decoder(b, c.decoder, placed);
  return b.finish(x);
}

}  // namespace

Result<ModelFacts> moonshine_streaming_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read_moonshine_streaming(config));
  return moonshine_facts("MoonshineStreamingForConditionalGeneration", c.decoder);
}

Result<Graph> build_moonshine_streaming(const ConfigReader& config, const TensorFile& file,
                                        const BuildOptions& options) {
  TOK_TRY(const Config c, read_moonshine_streaming(config));
  return build_moonshine_decoder(c.decoder, file, options, c.max_rows());
}

Result<SpeechModel> build_moonshine_streaming_speech(const ConfigReader& config,
                                                     const TensorFile& file,
                                                     const BuildOptions& options) {
  TOK_TRY(const Config c, read_moonshine_streaming(config));
  SpeechModel model{.input = SoundInput::kFrames,
                    .max_samples = c.max_rows() * Config::kSamplesPerRow,
                    .start = c.decoder.start,
                    .tokens_per_second = kTokensPerSecond};
  TOK_TRY(const float log_gain, scalar(file, "model.encoder.embedder.comp.log_k"));
  model.gain = std::exp(log_gain);
  for (const StreamingWindow& window : c.encoder.windows) model.aheads.insert(window.ahead);
  for (size_t i = 0; i < std::size(kConvolutions); ++i) {
    TOK_TRY(Graph graph, stage_graph(c, i, file, options));
    const uint32_t rows[] = {4 * c.max_rows(), 2 * c.max_rows(), c.max_rows()};
    model.stages.push_back({std::move(graph), rows[i], kConvolutions[i]});
  }
  return model;
}

}  // namespace tokamak
