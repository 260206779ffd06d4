// The vision tower of Qwen3.5. Reference: transformers/models/qwen3_5/modeling_qwen3_5.py
// (Qwen3_5VisionModel) and models/qwen2_vl/image_processing_qwen2_vl.py.
//
// The differences from a plain vision transformer (arXiv:2010.11929):
//   a patch is a film of two equal frames; there is no class token
//   the table of positions is a square, mixed bilinearly for grids of other sides
//   heads turn, too: half of the frequencies by the patch's row, half by its column
//   four neighbouring patches are normed, joined and go through an MLP of their own
#include <cmath>

#include "model/arch/qwen3_5.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct Config {
  uint32_t depth, hidden, heads, head_dim, ffn, patch, frames, side, table, out;
};

Result<Config> read(const ConfigReader& whole) {
  ConfigReader config = whole.at("vision_config");
  Config c{};
  c.depth = config.size("depth");
  c.hidden = config.size("hidden_size");
  c.heads = config.size("num_heads");
  c.ffn = config.size("intermediate_size");
  c.patch = config.size("patch_size", 16);
  c.frames = config.size("temporal_patch_size", 2);
  c.side = config.size("spatial_merge_size", 2);
  c.out = config.size("out_hidden_size");
  const uint32_t positions = config.size("num_position_embeddings", 2304);
  c.table = uint32_t(std::lround(std::sqrt(positions)));
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  const Activation activation = read_activation(config, "hidden_act", "gelu_pytorch_tanh");
  const auto deepstack = config.counts("deepstack_visual_indexes");
  TOK_TRY(config.status());
  if (activation != Activation::kGeluTanh) {
    return unsupported("{} is {}, expected gelu_pytorch_tanh.", config.path("hidden_act"),
                       activation_name(activation));
  }
  if (!deepstack.empty()) {
    return unsupported("{} is not empty; this engine runs towers without deepstack.",
                       config.path("deepstack_visual_indexes"));
  }
  if (c.table * c.table != positions) {
    return invalid_input("{} is {}, expected a square.", config.path("num_position_embeddings"),
                         positions);
  }
  if (c.head_dim % 4 != 0) {
    return unsupported("{}: heads of {} elements; this engine turns heads of a multiple of 4.",
                       config.where(), c.head_dim);
  }
  return c;
}

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

Result<Graph> patches_graph(const Config& c, const TensorFile& file, const std::string& prefix,
                            uint32_t patches, DType kv_dtype) {
  VisionBuilder b(file, prefix, patches, kv_dtype);
  const uint32_t pixels = 3 * c.frames * c.patch * c.patch;
  ValueId x = b.with_positions(b.embedded_patches("patch_embed.proj", c.hidden, pixels, true));
  for (uint32_t i = 0; i < c.depth && b.ok(); ++i) {
    x = block(b, c, fmt::format("blocks.{}.", i), x);
  }
  return b.finish(b.norm(x, "merger.norm", kEps));
}

Result<Graph> merge_graph(const Config& c, const TensorFile& file, const std::string& prefix,
                          uint32_t patches) {
  VisionBuilder b(file, prefix, patches);
  const uint32_t joined = c.side * c.side * c.hidden;
  ValueId x = b.row_input(std::string(kUnmerged), joined);
  x = b.activate(Activation::kGeluErf, b.projection(x, "merger.linear_fc1", joined, true));
  return b.finish(b.projection(x, "merger.linear_fc2", c.out, true));
}

/// How many frequencies of the text turn by the rows and columns of images.
Result<ImageAngles> read_angles(const ConfigReader& whole) {
  const ConfigReader text = whole.has("text_config") ? whole.at("text_config") : whole;
  TOK_TRY(const ModelFacts facts, decoder_facts<read_qwen3_5>(whole));
  ConfigReader fields = text.at("rope_parameters");
  std::vector<uint32_t> sections = {11, 11, 10};
  if (fields.has("mrope_section")) sections = fields.counts("mrope_section");
  if (!fields.flag("mrope_interleaved", true) || sections.size() != 3) {
    fields.reject({ErrorCode::kUnsupported,
                   fmt::format("{}: this engine runs mrope_interleaved with three sections.",
                               fields.where())});
  }
  TOK_TRY(fields.status());
  return ImageAngles{facts.rope, sections[1], sections[2]};
}

}  // namespace

Result<VisionTower> build_qwen3_5_vision(const ConfigReader& config, const TensorFile& file,
                                         const TowerBuild& build) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix, find_prefix(file, {"model.visual.", "visual."},
                                                "patch_embed.proj.weight", "vision tower"));
  const uint32_t patches = patches_of_pixels(build.pixels, c.patch, c.side);
  VisionTower tower = {.max_patches = patches,
                       .patch = c.patch,
                       .frames = c.frames,
                       .side = c.side,
                       .head_dim = c.head_dim,
                       .angle_base = 10000.0,
                       .words = "<|vision_start|><|image_pad|><|vision_end|>"};
  ConfigReader reader = config;
  tower.placeholder = reader.size("image_token_id");
  TOK_TRY(reader.status());
  TOK_TRY(tower.angles, read_angles(config));
  TOK_TRY(tower.positions,
          position_table(file, prefix + "pos_embed.weight", c.table * c.table, c.hidden));
  TOK_TRY(tower.stages.emplace_back().patches,
          patches_graph(c, file, prefix, patches, build.kv_dtype));
  TOK_TRY(tower.stages.back().merge, merge_graph(c, file, prefix, patches));
  return tower;
}

}  // namespace tokamak
