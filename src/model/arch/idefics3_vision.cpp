// The vision tower of Idefics 3 and SmolVLM. References: transformers/models/idefics3/
// modeling_idefics3.py (Idefics3VisionTransformer, Idefics3Connector), image_processing_idefics3.py
// and processing_idefics3.py; arXiv:2408.12637, 2504.05299.
//
// SigLIP on squares of an image, each by itself, and on the image as a whole; then squares of
// patches are joined (the pixel shuffle) and multiplied by one matrix.
#include "base/bits.h"
#include "model/arch.h"
#include "model/arch/siglip.h"
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

/// The squares of the longer side where preprocessor_config.json has none.
constexpr uint32_t kSquares = 4;
/// Most pixels of a side, whatever the file asks for.
constexpr uint32_t kMaxSide = 4096;

Result<Tiles> read_tiles(const TowerBuild& build, uint32_t side) {
  const Json none{Json::Object()};
  ConfigReader config(build.processor != nullptr ? *build.processor : none,
                      "preprocessor_config.json");
  ConfigReader size = config.at("size"), square = config.at("max_image_size");
  Tiles tiles{.longest = std::min(size.size("longest_edge", kSquares * side), kMaxSide),
              .splits = config.flag("do_image_splitting", true),
              .most = 1,
              .tile = "<fake_token_around_image><row_{row}_col_{column}>",
              .line = "\n",
              .whole = "<fake_token_around_image><global-img>",
              .end = "<fake_token_around_image>"};
  const uint32_t cut = square.size("longest_edge", side);
  TOK_TRY(size.status());
  TOK_TRY(square.status());
  if (!config.flag("do_resize", true)) {
    return unsupported("{} is false; this engine cuts images of whole squares.",
                       config.path("do_resize"));
  }
  TOK_TRY(config.status());
  if (cut != side) {
    return invalid_input("{} is {}, but image_size of the tower is {}.",
                         square.path("longest_edge"), cut, side);
  }
  const uint32_t squares = ceil_div(tiles.longest, side);
  if (tiles.splits && squares > 1) tiles.most = squares * squares + 1;
  return tiles;
}

}  // namespace

Result<VisionTower> build_idefics3_vision(const ConfigReader& config, const TensorFile& file,
                                          const TowerBuild& build) {
  TOK_TRY(const ModelFacts text, decoder_facts<read_idefics3>(config));
  ConfigReader own = config, fields = config.at("vision_config");
  TOK_TRY(const SiglipConfig c,
          read_siglip(
              fields,
              {.layers = 12, .hidden = 1152, .heads = 16, .ffn = 3072, .image = 224, .patch = 32}));
  const uint32_t side = own.size("scale_factor", 2);
  VisionTower tower = {
      .max_patches = c.patches(), .patch = c.patch, .side = side, .head_dim = c.head_dim};
  tower.image_side = c.image;
  tower.placeholder = own.size("image_token_id", 128257);
  tower.words = "<image>";
  TOK_TRY(own.status());
  if (c.image / c.patch % side != 0) {
    return invalid_input("{}: images of {} patches of a side are not whole squares of {}.",
                         own.path("scale_factor"), c.image / c.patch, side);
  }
  TOK_TRY(tower.parts, read_tiles(build, c.image));
  constexpr std::string_view kConnector = "connector.modality_projection.proj";
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"model.", ""}, fmt::format("{}.weight", kConnector),
                      "projector of images"));
  const std::string vision = prefix + "vision_model.";
  TOK_TRY(tower.positions, position_table(file, vision + "embeddings.position_embedding.weight",
                                          c.patches(), c.hidden));
  TOK_TRY(tower.stages.emplace_back().patches, siglip_patches(c, file, vision, build.kv_dtype));
  VisionBuilder merge(file, prefix, c.patches());
  const ValueId joined = merge.row_input(std::string(kUnmerged), side * side * c.hidden);
  TOK_TRY(tower.stages.back().merge,
          merge.finish(merge.projection(joined, std::string(kConnector), text.hidden)));
  return tower;
}

}  // namespace tokamak
