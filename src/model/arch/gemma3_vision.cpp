// The vision tower of Gemma 3. Reference: transformers/models/gemma3/modeling_gemma3.py
// (Gemma3MultiModalProjector).
//
// SigLIP; then squares of patches are averaged, normed and multiplied by a matrix that is stored
// the other way round.
#include <cmath>

#include "model/arch.h"
#include "model/arch/siglip.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct Config : SiglipConfig {
  uint32_t side, out;
  float out_eps;
};

Result<Config> read(const ConfigReader& whole) {
  TOK_TRY(const ModelFacts text, gemma3_facts(whole));
  ConfigReader config = whole.at("vision_config"), own = whole,
               text_config = whole.at("text_config");
  Config c{};
  TOK_TRY(static_cast<SiglipConfig&>(c),
          read_siglip(
              config,
              {.layers = 27, .hidden = 1152, .heads = 16, .ffn = 4304, .image = 896, .patch = 14}));
  c.out_eps = float(text_config.positive("rms_norm_eps", 1e-6));
  c.out = text.hidden;
  const uint32_t tokens = own.size("mm_tokens_per_image", 256);
  TOK_TRY(text_config.status());
  TOK_TRY(own.status());
  const uint32_t grid = c.image / c.patch, squares = uint32_t(std::lround(std::sqrt(tokens)));
  if (squares * squares != tokens || grid % squares != 0) {
    return invalid_input(
        "{}: images of {} pixels in patches of {} do not make the {} rows of mm_tokens_per_image.",
        config.where(), c.image, c.patch, tokens);
  }
  c.side = grid / squares;
  return c;
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
  TOK_TRY(tower.stages.emplace_back().patches, siglip_patches(c, file, prefix, build.kv_dtype));
  TOK_TRY(tower.stages.back().merge, merge_graph(c, file, projector));
  return tower;
}

}  // namespace tokamak
