// The vision towers of Qwen2-VL and Qwen2.5-VL. References: transformers/models/qwen2_vl/
// modeling_qwen2_vl.py (Qwen2VisionTransformerPretrainedModel) and qwen2_5_vl/
// modeling_qwen2_5_vl.py (Qwen2_5_VisionTransformerPretrainedModel); arXiv:2409.12191 and
// arXiv:2502.13923.
//
// The differences from the tower of Qwen3-VL (qwen_vision.cpp):
//   there is no table of positions; patches are embedded without a bias
//   Qwen2.5-VL: RMS norms and gated MLPs; most blocks see squares of the image
#include <algorithm>
#include <cmath>

#include "model/arch/qwen_vision_config.h"
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

constexpr float kEps = 1e-6f;

struct Config {
  uint32_t depth, hidden, heads, head_dim, ffn, patch, frames, side, out;
  uint32_t window = 0;           // rows of the tower in a side
  std::vector<bool> in_windows;  // per block; the others see all of an image
  Activation activation;
  bool frames_apart, gated = false;
};

/// The fields that both have.
Config read_common(ConfigReader& config, const char* hidden, const char* out) {
  Config c{};
  c.depth = read_layers(config, "depth");
  c.hidden = config.size(hidden);
  c.heads = config.size("num_heads", 16);
  c.patch = config.size("patch_size", 14);
  c.frames = config.size("temporal_patch_size", 2);
  c.frames_apart = config.flag("patch_embed_as_gguf", false);
  c.side = config.size("spatial_merge_size", 2);
  c.out = config.size(out);
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  c.in_windows.assign(c.depth, false);
  config.adopt(check_turned_heads(config, c.head_dim));
  return c;
}

Result<Config> read_plain_tower(ConfigReader config) {
  Config c = read_common(config, "embed_dim", "hidden_size");
  c.ffn = uint32_t(double(c.hidden) * config.positive("mlp_ratio", 4));
  c.activation = read_activation(config, "hidden_act", "quick_gelu");
  TOK_TRY(config.status());
  return c;
}

Result<Config> read_gated_tower(ConfigReader config) {
  Config c = read_common(config, "hidden_size", "out_hidden_size");
  c.gated = true;
  c.ffn = config.size("intermediate_size", 3420);
  c.activation = read_activation(config, "hidden_act", "silu");
  const uint32_t pixels = config.size("window_size", 112);
  std::vector<uint32_t> full = config.counts("fullatt_block_indexes");
  if (!config.has("fullatt_block_indexes")) full = {7, 15, 23, 31};
  TOK_TRY(config.status());
  for (uint32_t i = 0; i < c.depth; ++i) c.in_windows[i] = std::ranges::count(full, i) == 0;
  c.window = pixels / c.side / c.patch;
  if (c.window != 0) return c;
  return invalid_input("{} is {}, expected at least spatial_merge_size * patch_size, {}.",
                       config.path("window_size"), pixels, c.side * c.patch);
}

ValueId normed(VisionBuilder& b, const Config& c, const std::string& name, ValueId x) {
  if (!c.gated) return b.norm(x, name, kEps);
  return b.rms_norm(x, b.vector(name + ".weight", c.hidden), kEps);
}

/// The heads' queries (0), keys (1) or values (2): rows of one matrix, or of one each.
ValueId heads(VisionBuilder& b, const Config& c, const std::string& p, uint32_t which, ValueId x) {
  const std::string own = p + "attn." + "qkv"[which] + "_proj";
  if (b.has(own + ".weight")) return b.projection(x, own, c.hidden, true);
  return b.projection(x, p + "attn.qkv", {which * c.hidden, c.hidden, 3 * c.hidden}, true);
}

/// x: [T, hidden] -> [T, hidden]
ValueId block(VisionBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("blocks.{}.", index);
  ValueId h = normed(b, c, p + "norm1", x);
  ValueId q = heads(b, c, p, 0, h), k = heads(b, c, p, 1, h);
  const ValueId v = heads(b, c, p, 2, h);
  q = b.turned(q, c.head_dim);
  k = b.turned(k, c.head_dim);
  h = b.attention_both_ways(q, k, v, c.head_dim, 1 / std::sqrt(float(c.head_dim)),
                            c.in_windows[index]);
  x = b.add(x, b.projection(h, p + "attn.proj", c.hidden, true));
  h = normed(b, c, p + "norm2", x);
  if (!c.gated) {
    h = b.activate(c.activation, b.projection(h, p + "mlp.fc1", c.ffn, true));
    return b.add(x, b.projection(h, p + "mlp.fc2", c.hidden, true));
  }
  const ValueId gate = b.projection(h, p + "mlp.gate_proj", c.ffn, true);
  const ValueId up = b.projection(h, p + "mlp.up_proj", c.ffn, true);
  h = b.glu(c.activation, gate, up);
  return b.add(x, b.projection(h, p + "mlp.down_proj", c.hidden, true));
}

Result<Graph> patches_graph(VisionBuilder b, const Config& c) {
  ValueId x = embedded_film(b, c.hidden, 3 * c.frames * c.patch * c.patch, false, c.frames_apart);
  for (uint32_t i = 0; i < c.depth && b.ok(); ++i) x = block(b, c, i, x);
  return b.finish(normed(b, c, "merger.ln_q", x));
}

Result<Graph> merge_graph(VisionBuilder b, const Config& c) {
  const uint32_t joined = c.side * c.side * c.hidden;
  ValueId x = b.row_input(std::string(kUnmerged), joined);
  x = b.activate(Activation::kGeluErf, b.projection(x, "merger.mlp.0", joined, true));
  return b.finish(b.projection(x, "merger.mlp.2", c.out, true));
}

template <auto kText, auto kRead>
Result<VisionTower> tower_for(const ConfigReader& config, const TensorFile& file,
                              const TowerBuild& build) {
  TOK_TRY(const ModelFacts text, decoder_facts<kText>(config));
  TOK_TRY(const Config c, kRead(config.at("vision_config")));
  TOK_TRY(VisionTower tower, qwen_tower(config, c.patch, c.side, build));
  TOK_TRY(const std::string prefix, qwen_tower_prefix(file));
  tower.frames = c.frames;
  tower.head_dim = c.head_dim;
  tower.window = std::ranges::count(c.in_windows, true) == 0 ? 0 : c.window;
  tower.positions_are = PatchPositions::kNone;
  tower.clip_colours = true;
  tower.min_pixels = 3136;
  TOK_TRY(tower.angles, read_image_angles(config, text.rope, {16, 24, 24}, false));
  TowerStage& stage = tower.stages.emplace_back();
  TOK_TRY(stage.patches, patches_graph({file, prefix, tower.max_patches, build.kv_dtype}, c));
  TOK_TRY(stage.merge, merge_graph({file, prefix, tower.max_patches}, c));
  return tower;
}

}  // namespace

Result<VisionTower> build_qwen2_vl_vision(const ConfigReader& config, const TensorFile& file,
                                          const TowerBuild& build) {
  return tower_for<read_qwen2_vl, read_plain_tower>(config, file, build);
}

Result<VisionTower> build_qwen2_5_vl_vision(const ConfigReader& config, const TensorFile& file,
                                            const TowerBuild& build) {
  return tower_for<read_qwen2_5_vl, read_gated_tower>(config, file, build);
}

}  // namespace tokamak
