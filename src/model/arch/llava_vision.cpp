// The vision tower of LLaVA 1.5. References: transformers/models/llava/modeling_llava.py,
// models/clip/modeling_clip.py (CLIPVisionTransformer) and image_processing_clip.py;
// arXiv:2310.03744, 2103.00020.
//
// CLIP: as SigLIP, but for a norm before the blocks, none after the last and a class token, which
// sees the patches and is seen by them. The rows of a block before the last one go through two
// matrices with an activation between them, without that of the class token.
#include "model/arch.h"
#include "model/arch/siglip.h"
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

struct Config : SiglipConfig {
  uint32_t blocks = 0;  // that run
  uint32_t out = 0;
  Activation projector = Activation::kGeluErf;
  bool projector_bias = true;
};

/// Layer -2 is the output of the block before the last one.
Result<uint32_t> read_blocks(const ConfigReader& config, uint32_t layers) {
  const Json* const found = config.find("vision_feature_layer");
  const int64_t layer = found == nullptr      ? -2
                        : found->is_integer() ? found->as_integer()
                                              : int64_t{layers} + 1;
  const int64_t blocks = layer < 0 ? int64_t{layers} + 1 + layer : layer;
  if (blocks >= 1 && blocks <= int64_t{layers}) return uint32_t(blocks);
  return unsupported("{} is {}; this engine knows one layer of the {} there are, as -2.",
                     config.path("vision_feature_layer"),
                     found == nullptr ? "-2, which it is where it is not given" : found->dump(),
                     layers);
}

Result<Config> read(const ConfigReader& whole) {
  TOK_TRY(const ModelFacts text, decoder_facts<read_llava>(whole));
  ConfigReader own = whole, fields = whole.at("vision_config");
  const std::string type = fields.word("model_type", "clip_vision_model");
  TOK_TRY(fields.status());
  if (type != "clip_vision_model") {
    return unsupported("{} is \"{}\"; this engine runs this architecture with clip_vision_model.",
                       fields.path("model_type"), type);
  }
  Config c;
  TOK_TRY(static_cast<SiglipConfig&>(c),
          read_siglip(fields, {.layers = 12,
                               .hidden = 768,
                               .heads = 12,
                               .ffn = 3072,
                               .image = 224,
                               .patch = 32,
                               .eps = 1e-5f,
                               .activation = Activation::kGeluQuick}));
  c.out = text.hidden;
  c.projector = read_activation(own, "projector_hidden_act", "gelu");
  c.projector_bias = own.flag("multimodal_projector_bias", true);
  const std::string rows = own.word("vision_feature_select_strategy", "default");
  TOK_TRY(own.status());
  if (rows != "default") {
    return unsupported("{} is \"{}\"; this engine knows default, without the class token's row.",
                       own.path("vision_feature_select_strategy"), rows);
  }
  TOK_TRY(c.blocks, read_blocks(own, c.layers));
  return c;
}

Result<Graph> patches_graph(const Config& c, const TensorFile& file, const std::string& prefix,
                            const TowerBuild& build) {
  VisionBuilder b(file, prefix, c.patches() + 1, build.kv_dtype);
  ValueId x = b.with_positions(
      b.embedded_patches("embeddings.patch_embedding", c.hidden, 3 * c.patch * c.patch, false));
  x = b.norm(x, "pre_layrnorm", c.eps);
  for (uint32_t i = 0; i < c.blocks && b.ok(); ++i) {
    x = siglip_block(b, c, fmt::format("encoder.layers.{}.", i), x);
  }
  return b.finish(x);
}

Result<Graph> merge_graph(const Config& c, const TensorFile& file, const std::string& prefix) {
  VisionBuilder b(file, prefix, c.patches());
  ValueId x = b.row_input(std::string(kUnmerged), c.hidden);
  x = b.activate(c.projector, b.projection(x, "linear_1", c.out, c.projector_bias));
  return b.finish(b.projection(x, "linear_2", c.out, c.projector_bias));
}

}  // namespace

Result<VisionTower> build_llava_vision(const ConfigReader& config, const TensorFile& file,
                                       const TowerBuild& build) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"vision_tower.vision_model.", "model.vision_tower.vision_model."},
                      "embeddings.patch_embedding.weight", "vision tower"));
  TOK_TRY(const std::string projector,
          find_prefix(file, {"multi_modal_projector.", "model.multi_modal_projector."},
                      "linear_1.weight", "projector of images"));
  VisionTower tower = {
      .max_patches = c.patches(), .patch = c.patch, .side = 1, .head_dim = c.head_dim};
  tower.image_side = c.image;
  tower.keeps_ratio = tower.clip_colours = true;
  tower.words = "<image>";
  ConfigReader own = config;
  tower.placeholder = own.size("image_token_index", own.size("image_token_id", 32000));
  TOK_TRY(own.status());
  TOK_TRY(tower.positions, position_table(file, prefix + "embeddings.position_embedding.weight",
                                          c.patches() + 1, c.hidden));
  TOK_TRY(tower.class_row,
          position_table(file, prefix + "embeddings.class_embedding", 1, c.hidden));
  TOK_TRY(tower.stages.emplace_back().patches, patches_graph(c, file, prefix, build));
  TOK_TRY(tower.stages.back().merge, merge_graph(c, file, projector));
  return tower;
}

}  // namespace tokamak
