// NanoCodec's decoder, which makes a sound from codes. Reference: NeMo,
// nemo/collections/tts/modules/audio_codec_modules.py, CausalHiFiGANDecoder and
// GroupFiniteScalarQuantizer.
//
//   a frame's codes, as numbers ─► convolution ─► for each rate: half-snake, transposed convolution
//   with half the columns, residual layer ─► half-snake ─► convolution ─► samples, clamped
//   residual layer: the mean of chains, one for each kernel size, of blocks, one for each dilation:
//   x + conv(half_snake(conv(half_snake(x))), the first one dilated
#include "model/arch.h"
#include "model/arch/nanocodec_config.h"

namespace tokamak {
namespace {

using Config = NanoCodec;

ValueId residual_layer(CodecBuilder& b, const Config& c, size_t index, ValueId x) {
  const auto columns = uint32_t(b.at(x).shape[1]);
  std::optional<ValueId> sum;
  for (size_t j = 0; j < c.taps.size(); ++j) {
    ValueId y = x;
    for (size_t m = 0; m < c.dilations.size(); ++m) {
      const std::string p =
          fmt::format("audio_decoder.res_layers.{}.res_blocks.{}.res_blocks.{}.", index, j, m);
      ValueId h = b.snake(y, p + "input_activation.activation.snake_act.alpha");
      h = b.convolution(h, p + "input_conv.conv", columns, c.taps[j], c.dilations[m]);
      h = b.snake(h, p + "skip_activation.activation.snake_act.alpha");
      y = b.add(y, b.convolution(h, p + "skip_conv.conv", columns, c.taps[j]));
    }
    sum = sum ? b.add(*sum, y) : y;
  }
  return b.scale(*sum, 1 / float(c.taps.size()));
}

/// Up to the next transposed convolution, or the samples.
Result<CodecStage> stage(const Config& c, size_t index, const TensorFile& file) {
  const std::string p = "audio_decoder.";
  const bool is_first = index == 0, is_last = index == c.rates.size();
  CodecBuilder b(file);
  ValueId x = b.row_input(codec_input(index), is_first ? c.input() : c.channels >> index);
  x = is_first ? b.convolution(x, p + "pre_conv.conv", c.channels, c.in_taps)
               : residual_layer(b, c, index - 1, x);
  CodecStage made{.graph = {}, .reach = is_first ? c.in_taps - 1 : c.reach()};
  if (is_last) {
    x = b.snake(x, p + "post_activation.activation.snake_act.alpha");
    x = b.clamp(b.convolution(x, p + "post_conv.conv", 1, c.out_taps), -1, 1);
    made.reach += c.out_taps - 1;
  } else {
    x = b.snake(x, fmt::format("{}activations.{}.activation.snake_act.alpha", p, index));
    made.rate = c.rates[index];
    x = b.upsampled(x, fmt::format("{}up_sample_conv_layers.{}.conv", p, index), made.rate);
    made.reach += 1;
  }
  TOK_TRY(made.graph, b.finish(x));
  return made;
}

}  // namespace

Result<ModelFacts> nanocodec_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read_nanocodec(config));
  return ModelFacts{.architecture = "NanoCodecDecoder", .is_codec = true};
}

Result<CodecModel> build_nanocodec(const ConfigReader& config, const TensorFile& file) {
  TOK_TRY(const Config c, read_nanocodec(config));
  CodecModel model{.stages = {},
                   .sample_rate = c.sample_rate,
                   .samples_per_frame = c.samples_per_frame(),
                   .groups = c.groups,
                   .levels = c.levels};
  for (size_t i = 0; i <= c.rates.size(); ++i) {
    TOK_TRY(model.stages.emplace_back(), stage(c, i, file));
  }
  return model;
}

}  // namespace tokamak
