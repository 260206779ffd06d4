// The vision tower of Gemma 3. Reference: transformers/models/siglip/modeling_siglip.py (SigLIP,
// arXiv:2303.15343) and models/gemma3/modeling_gemma3.py (Gemma3MultiModalProjector).
//
// A plain vision transformer on images of one size, without a class token; then squares of patches
// are averaged, normed and multiplied by a matrix that is stored the other way round.
#include <cmath>

#include "model/arch.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct Config {
  uint32_t layers, hidden, heads, head_dim, ffn, image, patch, side, out;
  float eps, out_eps;

  uint32_t patches() const { return (image / patch) * (image / patch); }
};

Result<Config> read(const ConfigReader& whole) {
  TOK_TRY(const ModelFacts text, gemma3_facts(whole));
  ConfigReader config = whole.at("vision_config"), own = whole,
               text_config = whole.at("text_config");
  Config c{};
  c.layers = config.size("num_hidden_layers", 27);
  c.hidden = config.size("hidden_size", 1152);
  c.heads = config.size("num_attention_heads", 16);
  c.ffn = config.size("intermediate_size", 4304);
  c.image = config.size("image_size", 896);
  c.patch = config.size("patch_size", 14);
  c.eps = float(config.positive("layer_norm_eps", 1e-6));
  c.out_eps = float(text_config.positive("rms_norm_eps", 1e-6));
  c.out = text.hidden;
  const uint32_t tokens = own.size("mm_tokens_per_image", 256);
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  const Activation activation = read_activation(config, "hidden_act", "gelu_pytorch_tanh");
  TOK_TRY(config.status());
  TOK_TRY(text_config.status());
  TOK_TRY(own.status());
  if (activation != Activation::kGeluTanh) {
    return unsupported("{} is {}, expected gelu_pytorch_tanh.", config.path("hidden_act"),
                       activation_name(activation));
  }
  const uint32_t grid = c.image / c.patch, squares = uint32_t(std::lround(std::sqrt(tokens)));
  if (grid * c.patch != c.image || squares * squares != tokens || grid % squares != 0) {
    return invalid_input(
        "{}: images of {} pixels in patches of {} do not make the {} rows of mm_tokens_per_image.",
        config.where(), c.image, c.patch, tokens);
  }
  c.side = grid / squares;
  return c;
}

/// x: [T, hidden] -> [T, hidden]
ValueId block(VisionBuilder& b, const Config& c, const std::string& p, ValueId x) {
  ValueId h = b.norm(x, p + "layer_norm1", c.eps);
  ValueId q = b.projection(h, p + "self_attn.q_proj", c.hidden, true);
  ValueId k = b.projection(h, p + "self_attn.k_proj", c.hidden, true);
  ValueId v = b.projection(h, p + "self_attn.v_proj", c.hidden, true);
  ValueId o = b.attention_both_ways(q, k, v, c.head_dim, 1 / std::sqrt(float(c.head_dim)));
  x = b.add(x, b.projection(o, p + "self_attn.out_proj", c.hidden, true));
  ValueId f = b.projection(b.norm(x, p + "layer_norm2", c.eps), p + "mlp.fc1", c.ffn, true);
  f = b.activate(Activation::kGeluTanh, f);
  return b.add(x, b.projection(f, p + "mlp.fc2", c.hidden, true));
}

Result<Graph> patches_graph(const Config& c, const TensorFile& file, const std::string& prefix,
                            DType kv_dtype) {
  VisionBuilder b(file, prefix, c.patches(), kv_dtype);
  ValueId x = b.with_positions(
      b.embedded_patches("embeddings.patch_embedding", c.hidden, 3 * c.patch * c.patch, true));
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    x = block(b, c, fmt::format("encoder.layers.{}.", i), x);
  }
  return b.finish(b.norm(x, "post_layernorm", c.eps));
}

constexpr const char* kProjection = "mm_input_projection_weight";

Result<Graph> merge_graph(const Config& c, const TensorFile& file, const std::string& prefix) {
  VisionBuilder b(file, prefix, c.patches());
  ValueId x = b.averaged(c.side * c.side, c.hidden);
  x = b.rms_norm(x, b.vector("mm_soft_emb_norm.weight", c.hidden, true), c.out_eps);
  return b.finish(b.linear(x, b.flat_matrix(kProjection, c.out, c.hidden)));
}

}  // namespace

Result<VisionTower> build_gemma3_vision(const ConfigReader& config, const TensorFile& file,
                                        const TowerBuild& build) {
  TOK_TRY(const Config c, read(config));
  const std::initializer_list<std::string_view> towers = {
      "vision_tower.vision_model.", "model.vision_tower.vision_model.", "model.vision_tower."};
  TOK_TRY(const std::string prefix,
          find_prefix(file, towers, "embeddings.patch_embedding.weight", "vision tower"));
  TOK_TRY(const std::string projector,
          find_prefix(file, {"multi_modal_projector.", "model.multi_modal_projector."}, kProjection,
                      "projector of images"));
  VisionTower tower = {
      .max_patches = c.patches(), .patch = c.patch, .side = c.side, .head_dim = c.head_dim};
  tower.image_side = c.image;
  tower.sees_whole_images = true;
  tower.transposed = {projector + kProjection};
  tower.template_word = "<start_of_image>";
  tower.words = "\n\n<start_of_image><image_soft_token><end_of_image>\n\n";
  ConfigReader reader = config;
  tower.placeholder = reader.size("image_token_index", 262144);
  TOK_TRY(reader.status());
  TOK_TRY(tower.positions, position_table(file, prefix + "embeddings.position_embedding.weight",
                                          c.patches(), c.hidden));
  TOK_TRY(tower.stages.emplace_back().patches, patches_graph(c, file, prefix, build.kv_dtype));
  TOK_TRY(tower.stages.back().merge, merge_graph(c, file, projector));
  return tower;
}

}  // namespace tokamak
