// Both halves of Whisper: their config, and the parts that their layers share.
#pragma once
#include <string>

#include "model/arch.h"

namespace tokamak::whisper {

inline constexpr float kEps = 1e-5f;

struct Half {
  uint32_t layers = 0, heads = 0, ffn = 0, positions = 0;
};

struct Config {
  uint32_t vocab = 0, hidden = 0, bins = 0, start = 0;
  Activation activation = Activation::kGeluErf;
  Half encoder, decoder;
  float embedding_scale = 1;
  bool tied = true;

  uint32_t head_dim(const Half& half) const { return hidden / half.heads; }
};

Result<Config> read(ConfigReader config);

struct Heads {
  ValueId q, k, v;
};
/// Biases are everywhere but on keys.
Heads heads(SpeechBuilder& b, const Config& c, const std::string& p, ValueId x);
/// The second part of a layer, with its norm; x: [T, hidden] -> [T, hidden]
ValueId mlp(SpeechBuilder& b, const Config& c, const Half& half, const std::string& p, ValueId x);

}  // namespace tokamak::whisper
