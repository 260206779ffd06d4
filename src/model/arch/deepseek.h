// Decoders with attention to latents (graph/latent_ops.h). Reference: transformers'
// modeling_deepseek_v2.py and modeling_deepseek_v3.py.
#pragma once
#include "model/decoder.h"

namespace tokamak {

struct LatentSpec : DecoderSpec {
  uint32_t q_rank = 0;      // of the product that q is made by; 0: one product
  uint32_t kv_rank = 0;     // of the latent
  uint32_t still = 0;       // elements of a head's key that have no position
  uint32_t turned = 0;      // those that do, which all heads share
  uint32_t value = 0;       // elements of a head's value
  bool neighbours = false;  // those that turn together, not halves
};

Result<LatentSpec> read_deepseek_v2(ConfigReader config);
Result<LatentSpec> read_deepseek_v3(ConfigReader config);
/// GLM-4.7 Flash, which is V3 but for its sizes.
Result<LatentSpec> read_glm4_moe_lite(ConfigReader config);

Result<Graph> decoder_graph(const LatentSpec& c, const TensorFile& file,
                            const BuildOptions& options);

}  // namespace tokamak
