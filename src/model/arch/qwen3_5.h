// The fields of config.json of models with gated delta rules, at the top or in text_config.
// References: transformers/models/qwen3_5/configuration_qwen3_5.py, and qwen3_5_moe and qwen3_next.
#pragma once
#include <vector>

#include "model/decoder.h"

namespace tokamak {

struct Qwen35Config : DecoderSpec {
  uint32_t key_heads, value_heads, dk, dv, taps;  // of the delta rule
  bool tiled, negated;                            // how GGUF files store value heads and rates
  std::vector<bool> full;                         // per layer: attention
};

Result<Qwen35Config> read_qwen3_5(const ConfigReader& config);
Result<Qwen35Config> read_qwen3_5_moe(const ConfigReader& config);
Result<Qwen35Config> read_qwen3_next(const ConfigReader& config);

Result<Graph> decoder_graph(Qwen35Config c, const TensorFile& file, const BuildOptions& options);

}  // namespace tokamak
