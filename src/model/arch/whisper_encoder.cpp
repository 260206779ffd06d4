// The encoder of Whisper; whisper.cpp has the rest.
#include "model/arch/whisper.h"

namespace tokamak {
namespace whisper {
namespace {

constexpr Unfold kConvolutions[] = {{.taps = 3, .stride = 1, .pad = 1},
                                    {.taps = 3, .stride = 2, .pad = 1}};
constexpr uint32_t kPadAfter = 1;
constexpr uint32_t kSamplesPerFrame = 160;  // two frames make a row of the encoder

ValueId encoder_block(SpeechBuilder& b, const Config& c, const std::string& p, ValueId x) {
  ValueId h = b.normed(x, p + "self_attn_layer_norm", kEps);
  const auto [q, k, v] = heads(b, c, p + "self_attn.", h);
  ValueId o = b.attention_both_ways(q, k, v, c.head_dim(c.encoder));
  x = b.add(x, b.projection(o, p + "self_attn.out_proj", c.hidden, true));
  return mlp(b, c, c.encoder, p, x);
}

Result<Graph> stage_graph(const Config& c, size_t index, const TensorFile& file,
                          const BuildOptions& options) {
  SpeechBuilder b(file, options, "model.", c.encoder.positions);
  ValueId x =
      b.convolution(index, 2 * c.encoder.positions, index == 0 ? c.bins : c.hidden,
                    fmt::format("encoder.conv{}", index + 1), c.hidden, kConvolutions[index], true);
  x = b.activate(Activation::kGeluErf, x);
  if (index == 0) return b.finish(x);
  x = b.with_positions(x, "encoder.embed_positions.weight", c.encoder.positions, 0);
  for (uint32_t i = 0; i < c.encoder.layers && b.ok(); ++i) {
    x = encoder_block(b, c, fmt::format("encoder.layers.{}.", i), x);
  }
  x = b.normed(x, "encoder.layer_norm", kEps);
  for (uint32_t i = 0; i < c.decoder.layers && b.ok(); ++i) {
    const std::string p = fmt::format("decoder.layers.{}.encoder_attn.", i);
    ValueId k = b.projection(x, p + "k_proj", c.hidden);
    ValueId v = b.projection(x, p + "v_proj", c.hidden, true);
    b.keep(i, k, v, c.head_dim(c.decoder));
  }
  return b.finish(x);
}

}  // namespace
}  // namespace whisper

Result<SpeechModel> build_whisper_speech(const ConfigReader& config, const TensorFile& file,
                                         const BuildOptions& options) {
  TOK_TRY(const whisper::Config c, whisper::read(config));
  SpeechModel model{.input = SoundInput::kLogMel,
                    .max_samples = 2 * c.encoder.positions * whisper::kSamplesPerFrame,
                    .bins = c.bins,
                    .start = c.start};
  for (size_t i = 0; i < std::size(whisper::kConvolutions); ++i) {
    TOK_TRY(Graph graph, whisper::stage_graph(c, i, file, options));
    const uint32_t rows = i == 0 ? 2 * c.encoder.positions : c.encoder.positions;
    model.stages.push_back({std::move(graph), rows, whisper::kConvolutions[i], whisper::kPadAfter});
  }
  return model;
}

}  // namespace tokamak
