// The decoder of LFM2, which models that speak have as well.
#pragma once
#include <optional>
#include <vector>

#include "model/arch.h"
#include "model/experts.h"

namespace tokamak {

struct Lfm2Config {
  std::string_view architecture;  // an entry of config.json's "architectures"
  uint32_t vocab, hidden, layers, heads, kv_heads, head_dim, ffn, max_context, taps;
  float eps;
  bool conv_bias, tied;
  std::vector<bool> full;  // per layer: attention
  RopeTable rope;
  std::optional<Mixture> mixture;
  bool own_angles;  // the host gives the angles of each row, other ones to each layer: voice_angles
};

Result<Lfm2Config> read_lfm2(ConfigReader config);
Result<Lfm2Config> read_lfm2_moe(ConfigReader config);
ModelFacts facts_of(const Lfm2Config& c);
Result<Graph> decoder_graph(const Lfm2Config& c, const TensorFile& file,
                            const BuildOptions& options);

}  // namespace tokamak
