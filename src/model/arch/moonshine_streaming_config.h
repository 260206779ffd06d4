// The config of Moonshine's streaming models.
#pragma once
#include <vector>

#include "model/arch/moonshine.h"

namespace tokamak {

struct StreamingWindow {
  uint32_t back = 0, ahead = 0;  // rows less than that far away
};

struct StreamingEncoder {
  uint32_t hidden = 0, ffn = 0, heads = 0, head_dim = 0;
  Activation activation = Activation::kGeluErf;
  std::vector<StreamingWindow> windows;  // of each layer
};

struct MoonshineStreaming {
  static constexpr uint32_t kFrameSamples = 80, kSamplesPerRow = 4 * kFrameSamples;
  /// Longer sounds come in pieces.
  static constexpr uint32_t kMaxRows = 30 * 16000 / kSamplesPerRow;

  MoonshineDecoder decoder;
  StreamingEncoder encoder;

  /// Most rows of the encoder.
  uint32_t max_rows() const { return decoder.context < kMaxRows ? decoder.context : kMaxRows; }
};

Result<MoonshineStreaming> read_moonshine_streaming(ConfigReader config);

}  // namespace tokamak
