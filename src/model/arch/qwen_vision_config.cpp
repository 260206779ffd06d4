#include "model/arch/qwen_vision_config.h"

#include <cmath>

#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

/// The blocks of deepstack_visual_indexes.
Result<std::vector<uint32_t>> read_tapped(ConfigReader& config, uint32_t depth, bool taps) {
  constexpr std::string_view kName = "deepstack_visual_indexes";
  std::vector<uint32_t> blocks = config.counts(kName);
  if (taps && !config.has(kName)) blocks = {8, 16, 24};
  TOK_TRY(config.status());
  if (!taps && !blocks.empty()) {
    return unsupported("{} is not empty; this engine runs this architecture without deepstack.",
                       config.path(kName));
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] < depth && (i == 0 || blocks[i - 1] < blocks[i])) continue;
    return invalid_input("{} has {} in place {}, expected ascending blocks below {} (depth).",
                         config.path(kName), blocks[i], i, depth);
  }
  return blocks;
}

}  // namespace

Result<QwenVisionConfig> read_qwen_vision(const ConfigReader& whole, bool taps) {
  ConfigReader config = whole.at("vision_config");
  QwenVisionConfig c{};
  c.depth = config.size("depth");
  c.hidden = config.size("hidden_size");
  c.heads = config.size("num_heads");
  c.ffn = config.size("intermediate_size");
  c.patch = config.size("patch_size", 16);
  c.frames = config.size("temporal_patch_size", 2);
  c.frames_apart = config.flag("patch_embed_as_gguf", false);
  c.side = config.size("spatial_merge_size", 2);
  c.out = config.size("out_hidden_size");
  const uint32_t positions = config.size("num_position_embeddings", 2304);
  c.table = uint32_t(std::lround(std::sqrt(positions)));
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  TOK_TRY(expect_gelu_tanh(config, "hidden_act"));
  TOK_TRY(c.tapped, read_tapped(config, c.depth, taps));
  if (c.table * c.table != positions) {
    return invalid_input("{} is {}, expected a square.", config.path("num_position_embeddings"),
                         positions);
  }
  TOK_TRY(check_turned_heads(config, c.head_dim));
  return c;
}

Result<void> check_turned_heads(const ConfigReader& config, uint32_t head_dim) {
  if (head_dim % 4 == 0) return {};
  return unsupported("{}: heads of {} elements; this engine turns heads of a multiple of 4.",
                     config.where(), head_dim);
}

Result<ImageAngles> read_image_angles(const ConfigReader& whole, const RopeTable& rope,
                                      std::vector<uint32_t> otherwise, bool interleaved) {
  const ConfigReader text = whole.has("text_config") ? whole.at("text_config") : whole;
  ConfigReader fields = rope_fields(text);
  std::vector<uint32_t> sections = std::move(otherwise);
  if (fields.has("mrope_section")) sections = fields.counts("mrope_section");
  if (fields.flag("mrope_interleaved", interleaved) != interleaved || sections.size() != 3) {
    fields.reject(
        {ErrorCode::kUnsupported,
         fmt::format("{}: this engine runs this architecture with mrope_interleaved {} and "
                     "three sections.",
                     fields.where(), interleaved)});
  }
  TOK_TRY(fields.status());
  return ImageAngles{rope, sections[1], sections[2], interleaved};
}

Result<VisionTower> qwen_tower(const ConfigReader& whole, uint32_t patch, uint32_t side,
                               const TowerBuild& build) {
  VisionTower tower = {.max_patches = patches_of_pixels(build.pixels, patch, side),
                       .patch = patch,
                       .side = side,
                       .angle_base = 10000.0,
                       .words = "<|vision_start|><|image_pad|><|vision_end|>"};
  ConfigReader reader = whole;
  tower.placeholder = reader.size("image_token_id");
  TOK_TRY(reader.status());
  return tower;
}

Result<std::string> qwen_tower_prefix(const TensorFile& file) {
  return find_prefix(file, {"model.visual.", "visual."}, "patch_embed.proj.weight", "vision tower");
}

ValueId embedded_film(VisionBuilder& b, uint32_t hidden, uint32_t pixels, bool bias, bool apart) {
  const ValueId x = b.embedded_patches("patch_embed.proj", hidden, pixels, bias);
  if (!apart) return x;
  return b.add(x, b.embedded_patches("patch_embed.second_proj", hidden, pixels, false));
}

}  // namespace tokamak
