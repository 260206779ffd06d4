// Pixtral's vision tower as Mistral Small 3 and Ministral 3 have it. References:
// transformers/models/pixtral/modeling_pixtral.py, processing_pixtral.py and
// models/mistral3/modeling_mistral3.py (Mistral3MultiModalProjector); arXiv:2410.07073.
//
// The differences from a plain vision transformer (arXiv:2010.11929):
//   RMS norms, gated MLPs and no biases; there is neither a class token nor a table of positions
//   heads turn: half of the frequencies, every other one, by the patch's row, the others by its
//   column
//   squares of patches are joined by a matrix whose columns are channel by channel, and go through
//   an MLP of their own
//   a prompt has words after each line of an image's rows
#include <cmath>

#include "model/arch.h"
#include "model/decoder_fields.h"
#include "model/families.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

constexpr float kEps = 1e-5f;

struct Config {
  uint32_t layers, hidden, heads, head_dim, ffn, image, patch, side, out;
  Activation activation, projector;
  double theta;
  float out_eps;
  bool bias;  // of the projector
};

Result<Config> read(const ConfigReader& whole) {
  TOK_TRY(const DecoderSpec text, read_mistral3(whole));
  ConfigReader config = whole.at("vision_config"), own = whole, rope = rope_fields(config);
  Config c{};
  c.layers = config.size("num_hidden_layers", 24);
  c.hidden = config.size("hidden_size", 1024);
  c.heads = config.size("num_attention_heads", 16);
  c.ffn = config.size("intermediate_size", 4096);
  c.image = config.size("image_size", 1024);
  c.patch = config.size("patch_size", 16);
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  c.activation = read_activation(config, "hidden_act", "gelu");
  c.theta = rope.positive("rope_theta", read_rope_field(config, "rope_theta", 10000.0));
  c.side = own.size("spatial_merge_size", 2);
  c.projector = read_activation(own, "projector_hidden_act", "gelu");
  c.bias = own.flag("multimodal_projector_bias", false);
  c.out = text.hidden;
  c.out_eps = text.eps;
  TOK_TRY(rope.status());
  TOK_TRY(config.status());
  TOK_TRY(own.status());
  if (c.head_dim % 4 != 0 || c.head_dim * c.heads != c.hidden) {
    return unsupported(
        "{}: {} heads of {} elements; this engine turns heads of a multiple of 4 that make the "
        "hidden_size, {}.",
        config.where(), c.heads, c.head_dim, c.hidden);
  }
  return c;
}

/// x: [T, hidden] -> [T, hidden]
ValueId block(VisionBuilder& b, const Config& c, const std::string& p, ValueId x) {
  const auto normed = [&](const char* name) {
    return b.rms_norm(x, b.vector(p + name, c.hidden), kEps);
  };
  ValueId h = normed("attention_norm.weight");
  ValueId q = b.projection(h, p + "attention.q_proj", c.hidden);
  ValueId k = b.projection(h, p + "attention.k_proj", c.hidden);
  ValueId v = b.projection(h, p + "attention.v_proj", c.hidden);
  q = b.turned(q, c.head_dim);
  k = b.turned(k, c.head_dim);
  ValueId o = b.attention_both_ways(q, k, v, c.head_dim, 1 / std::sqrt(float(c.head_dim)));
  x = b.add(x, b.projection(o, p + "attention.o_proj", c.hidden));
  h = normed("ffn_norm.weight");
  ValueId gate = b.projection(h, p + "feed_forward.gate_proj", c.ffn);
  ValueId up = b.projection(h, p + "feed_forward.up_proj", c.ffn);
  h = b.glu(c.activation, gate, up);
  return b.add(x, b.projection(h, p + "feed_forward.down_proj", c.hidden));
}

Result<Graph> patches_graph(VisionBuilder b, const Config& c, const std::string& projector) {
  ValueId x = b.embedded_patches("patch_conv", c.hidden, 3 * c.patch * c.patch, false);
  x = b.rms_norm(x, b.vector("ln_pre.weight", c.hidden), kEps);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    x = block(b, c, fmt::format("transformer.layers.{}.", i), x);
  }
  const ValueId w = b.vector(fmt::format("/{}norm.weight", projector), c.hidden);
  return b.finish(b.rms_norm(x, w, c.out_eps));
}

constexpr const char* kJoins = "patch_merger.merging_layer.weight";

Result<Graph> merge_graph(VisionBuilder b, const Config& c) {
  const uint32_t joined = c.side * c.side * c.hidden;
  ValueId x = b.row_input(std::string(kUnmerged), joined);
  x = b.linear(x, b.flat_matrix(kJoins, c.hidden, joined));
  x = b.activate(c.projector, b.projection(x, "linear_1", c.out, c.bias));
  return b.finish(b.projection(x, "linear_2", c.out, c.bias));
}

Result<LineMarks> read_lines(const TowerBuild& build, const Config& c) {
  const Json none{Json::Object()};
  ConfigReader config(build.processor != nullptr ? *build.processor : none,
                      "preprocessor_config.json");
  ConfigReader size = config.at("size");
  LineMarks lines{.longest = std::min(size.size("longest_edge", c.image), c.image),
                  .line = "[IMG_BREAK]",
                  .end = "[IMG_END]"};
  TOK_TRY(size.status());
  return lines;
}

}  // namespace

Result<VisionTower> build_mistral3_vision(const ConfigReader& config, const TensorFile& file,
                                          const TowerBuild& build) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "model."}, "vision_tower.patch_conv.weight", "vision tower"));
  const std::string projector = prefix + "multi_modal_projector.";
  VisionTower tower = {.max_patches = patches_of_pixels(build.pixels, c.patch, c.side),
                       .patch = c.patch,
                       .side = c.side,
                       .head_dim = c.head_dim};
  tower.positions_are = PatchPositions::kNone;
  tower.angle_base = c.theta;
  tower.alternates = tower.clip_colours = true;
  tower.by_channel = {projector + kJoins};
  tower.words = "[IMG]";
  ConfigReader own = config;
  tower.placeholder = own.size("image_token_index", own.size("image_token_id", 10));
  TOK_TRY(own.status());
  const Json* tapped = own.find("vision_feature_layer");
  if (tapped != nullptr && tapped->dump() != "-1") {
    return unsupported("{} is {}; this engine reads the last layer of the tower, -1.",
                       own.path("vision_feature_layer"), tapped->dump());
  }
  TOK_TRY(tower.parts, read_lines(build, c));
  const std::string vision = prefix + "vision_tower.";
  TOK_TRY(tower.stages.emplace_back().patches,
          patches_graph({file, vision, tower.max_patches, build.kv_dtype}, c, projector));
  TOK_TRY(tower.stages.back().merge, merge_graph({file, projector, tower.max_patches}, c));
  return tower;
}

}  // namespace tokamak
