#include "model/nemo_config.h"

#include "model/config.h"

namespace tokamak {
namespace {

/// Whether the class that a part is made of is the last word of its name in Python.
Result<void> expect_class(const ConfigReader& config, std::string_view part,
                          std::string_view name) {
  ConfigReader reader = config.at(part);
  const std::string found = reader.word("_target_");
  TOK_TRY(reader.status());
  if (found.substr(found.rfind('.') + 1) == name) return {};
  return unsupported("{} is \"{}\"; of NeMo's models this engine knows those with a {}.",
                     reader.path("_target_"), found, name);
}

}  // namespace

Result<Json> config_of_nemo(Json config) {
  const ConfigReader reader(config, "model_config.yaml");
  TOK_TRY(reader.status());
  TOK_TRY(expect_class(reader, "audio_decoder", "CausalHiFiGANDecoder"));
  TOK_TRY(expect_class(reader, "vector_quantizer", "GroupFiniteScalarQuantizer"));
  config.set("architectures", Json::Array{"NanoCodecDecoder"});
  return config;
}

}  // namespace tokamak
