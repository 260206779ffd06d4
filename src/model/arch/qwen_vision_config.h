// The fields of config.json of the vision towers of Qwen3.5 and Qwen3-VL, and what all towers of
// Qwen share.
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

/// Which frequencies of `rope`, the text's, turn by the rows and columns of images; `otherwise` are
/// the sections of a config that has none. A family has them interleaved or one after another.
Result<ImageAngles> read_image_angles(const ConfigReader& whole, const RopeTable& rope,
                                      std::vector<uint32_t> otherwise, bool interleaved = true);

/// An error where heads of that size cannot turn by row and column.
Result<void> check_turned_heads(const ConfigReader& config, uint32_t head_dim);

/// A tower without stages yet, for images in the words of Qwen's prompts.
Result<VisionTower> qwen_tower(const ConfigReader& whole, uint32_t patch, uint32_t side,
                               const TowerBuild& build);

/// Before the names of its tensors.
Result<std::string> qwen_tower_prefix(const TensorFile& file);

/// The patches' embeddings, of two equal frames: `apart`, where each frame has a matrix, `pixels`
/// are those of one. -> [T, hidden]
ValueId embedded_film(VisionBuilder& b, uint32_t hidden, uint32_t pixels, bool bias, bool apart);

}  // namespace tokamak
