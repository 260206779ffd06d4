#include "model/description.h"

namespace tokamak {

Result<ModelDescription> read_description(const ReadText& read) {
  ModelDescription out;
  TOK_TRY(std::optional<Json> config, read_json(read, "config.json"));
  out.config = std::move(config).value_or(Json());
  TOK_TRY(out.generation_config, read_json(read, "generation_config.json"));
  TOK_TRY(out.quantize_config, read_json(read, "quantize_config.json"));
  TOK_TRY(out.hints, read_json(read, "tokamak.json"));
  TOK_TRY(out.image_processor, read_json(read, "preprocessor_config.json"));
  if (!out.image_processor) {
    // Newer repositories have one file for all kinds of inputs.
    TOK_TRY(const std::optional<Json> processor, read_json(read, "processor_config.json"));
    const Json* own = processor ? processor->find("image_processor") : nullptr;
    if (own != nullptr) out.image_processor = *own;
  }
  TOK_TRY(out.encoder, read_encoder_files(read));
  return out;
}

}  // namespace tokamak
