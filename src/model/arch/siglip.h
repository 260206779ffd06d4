// SigLIP (arXiv:2303.15343), the plain vision transformer of several towers. Reference:
// transformers/models/siglip/modeling_siglip.py.
#pragma once
#include <string>

#include "model/vision.h"

namespace tokamak {

/// Images of one size, in patches; there is no class token.
struct SiglipConfig {
  uint32_t layers, hidden, heads, ffn, image, patch;
  float eps = 1e-6f;
  Activation activation = Activation::kGeluTanh;
  uint32_t head_dim = 0;

  uint32_t patches() const { return (image / patch) * (image / patch); }
};

/// The fields of a vision_config, where `otherwise` stands for those that it lacks. Another
/// activation than its is refused where that is gelu_tanh.
Result<SiglipConfig> read_siglip(ConfigReader& config, const SiglipConfig& otherwise);

/// A block, whose tensors have `p` in front: [T, hidden] -> [T, hidden]
ValueId siglip_block(VisionBuilder& b, const SiglipConfig& config, const std::string& p, ValueId x);

/// From the patches of an image to the last norm's rows. `prefix` stands before "embeddings.".
Result<Graph> siglip_patches(const SiglipConfig& config, const TensorFile& file,
                             const std::string& prefix, DType kv_dtype);

}  // namespace tokamak
