// The vision towers of Qwen3.5 and Qwen3-VL. References: transformers/models/qwen3_5/
// modeling_qwen3_5.py (Qwen3_5VisionModel), qwen3_vl/modeling_qwen3_vl.py (Qwen3VLVisionModel) and
// qwen2_vl/image_processing_qwen2_vl.py.
//
// The differences from a plain vision transformer (arXiv:2010.11929):
//   a patch is a film of two equal frames; there is no class token
//   the table of positions is a square, mixed bilinearly for grids of other sides
//   heads turn, too: half of the frequencies by the patch's row, half by its column
//   four neighbouring patches are normed, joined and go through an MLP of their own
//   Qwen3-VL: what some blocks give goes that way, too, joined before it is normed, and is added to
//   the text's hidden states after its first layers (DeepStack: arXiv:2406.04334)
#include <cmath>

#include "model/arch/qwen_vision_config.h"
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

using Config = QwenVisionConfig;

constexpr float kEps = 1e-6f;

/// x: [T, hidden] -> [T, hidden]
ValueId block(VisionBuilder& b, const Config& c, const std::string& p, ValueId x) {
  ValueId h = b.norm(x, p + "norm1", kEps);
  ValueId q = b.projection(h, p + "attn.qkv", {0, c.hidden, 3 * c.hidden}, true);
  ValueId k = b.projection(h, p + "attn.qkv", {c.hidden, c.hidden, 3 * c.hidden}, true);
  ValueId v = b.projection(h, p + "attn.qkv", {2 * c.hidden, c.hidden, 3 * c.hidden}, true);
  q = b.turned(q, c.head_dim);
  k = b.turned(k, c.head_dim);
  ValueId o = b.attention_both_ways(q, k, v, c.head_dim, 1 / std::sqrt(float(c.head_dim)));
  x = b.add(x, b.projection(o, p + "attn.proj", c.hidden, true));
  ValueId f = b.projection(b.norm(x, p + "norm2", kEps), p + "mlp.linear_fc1", c.ffn, true);
  f = b.activate(Activation::kGeluTanh, f);
  return b.add(x, b.projection(f, p + "mlp.linear_fc2", c.hidden, true));
}

/// Blocks from `first` to before `end`, after the patches' embeddings or what the blocks before
/// them give. `norms`: their result.
Result<Graph> blocks_graph(VisionBuilder b, const Config& c, uint32_t first, uint32_t end,
                           bool norms) {
  ValueId x = {};
  if (first == 0) {
    const uint32_t pixels = 3 * c.frames * c.patch * c.patch;
    x = b.with_positions(embedded_film(b, c.hidden, pixels, true, c.frames_apart));
  } else {
    x = b.row_input(std::string(kPatchStates), c.hidden);
  }
  for (uint32_t i = first; i < end && b.ok(); ++i) x = block(b, c, fmt::format("blocks.{}.", i), x);
  return b.finish(norms ? b.norm(x, "merger.norm", kEps) : x);
}

/// `norms`: the joined patches.
Result<Graph> merge_graph(VisionBuilder b, const Config& c, const std::string& merger, bool norms) {
  const uint32_t joined = c.side * c.side * c.hidden;
  ValueId x = b.row_input(std::string(kUnmerged), joined);
  if (norms) x = b.norm(x, merger + "norm", kEps);
  x = b.activate(Activation::kGeluErf, b.projection(x, merger + "linear_fc1", joined, true));
  return b.finish(b.projection(x, merger + "linear_fc2", c.out, true));
}

/// A stage that ends after each tapped block, and one for the others.
Result<std::vector<TowerStage>> stages(const Config& c, const TensorFile& file,
                                       const std::string& prefix, uint32_t patches,
                                       DType kv_dtype) {
  std::vector<TowerStage> out;
  uint32_t first = 0;
  for (size_t i = 0; i <= c.tapped.size(); ++i) {
    const bool is_last = i == c.tapped.size();
    const uint32_t end = is_last ? c.depth : c.tapped[i] + 1;
    const std::string merger = is_last ? "merger." : fmt::format("deepstack_merger_list.{}.", i);
    TowerStage& stage = out.emplace_back();
    TOK_TRY(stage.patches, blocks_graph({file, prefix, patches, kv_dtype}, c, first, end, is_last));
    TOK_TRY(stage.merge, merge_graph({file, prefix, patches}, c, merger, !is_last));
    first = end;
  }
  return out;
}

Result<VisionTower> tower_of(const Config& c, const ConfigReader& config, const TensorFile& file,
                             const TowerBuild& build) {
  TOK_TRY(const std::string prefix, qwen_tower_prefix(file));
  TOK_TRY(VisionTower tower, qwen_tower(config, c.patch, c.side, build));
  tower.frames = c.frames;
  tower.head_dim = c.head_dim;
  TOK_TRY(tower.positions,
          position_table(file, prefix + "pos_embed.weight", c.table * c.table, c.hidden));
  TOK_TRY(tower.stages, stages(c, file, prefix, tower.max_patches, build.kv_dtype));
  return tower;
}

template <auto kText, bool kTaps>
Result<VisionTower> tower_for(const ConfigReader& config, const TensorFile& file,
                              const TowerBuild& build) {
  TOK_TRY(const ModelFacts text, decoder_facts<kText>(config));
  TOK_TRY(const Config c, read_qwen_vision(config, kTaps));
  if (c.tapped.size() > text.layers) {
    return invalid_input("{} has {} blocks, expected at most as many as the text has layers, {}.",
                         config.at("vision_config").path("deepstack_visual_indexes"),
                         c.tapped.size(), text.layers);
  }
  TOK_TRY(VisionTower tower, tower_of(c, config, file, build));
  const std::vector<uint32_t> usual = {kTaps ? 24u : 11u, kTaps ? 20u : 11u, kTaps ? 20u : 10u};
  TOK_TRY(tower.angles, read_image_angles(config, text.rope, usual));
  return tower;
}

}  // namespace

Result<VisionTower> build_qwen3_5_vision(const ConfigReader& config, const TensorFile& file,
                                         const TowerBuild& build) {
  return tower_for<read_qwen3_5, false>(config, file, build);
}

Result<VisionTower> build_qwen3_5_moe_vision(const ConfigReader& config, const TensorFile& file,
                                             const TowerBuild& build) {
  return tower_for<read_qwen3_5_moe, false>(config, file, build);
}

Result<VisionTower> build_qwen3_vl_vision(const ConfigReader& config, const TensorFile& file,
                                          const TowerBuild& build) {
  return tower_for<read_qwen3_vl, true>(config, file, build);
}

Result<VisionTower> build_qwen3_vl_moe_vision(const ConfigReader& config, const TensorFile& file,
                                              const TowerBuild& build) {
  return tower_for<read_qwen3_vl_moe, true>(config, file, build);
}

}  // namespace tokamak
