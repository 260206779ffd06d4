// The fields of config.json of the vision towers of Qwen3.5 and Qwen3-VL.
#pragma once
#include <vector>

#include "model/vision.h"

namespace tokamak {

struct QwenVisionConfig {
  uint32_t depth, hidden, heads, head_dim, ffn, patch, frames, side, table, out;
  bool frames_apart;             // a patch's embedding has a matrix for each of two equal frames
  std::vector<uint32_t> tapped;  // blocks whose output a layer of the text reads, too; ascending
};

/// `taps`: whether the family has such blocks; where it has none, a config that names some is
/// refused.
Result<QwenVisionConfig> read_qwen_vision(const ConfigReader& whole, bool taps);

/// How many frequencies of `rope`, the text's, turn by the rows and columns of images; `otherwise`
/// are the sections of a config that has none.
Result<ImageAngles> read_image_angles(const ConfigReader& whole, const RopeTable& rope,
                                      std::vector<uint32_t> otherwise);

}  // namespace tokamak
