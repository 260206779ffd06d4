// The facts of a checkpoint about its model beside the tensors: config.json and its relatives, each
// parsed once, when the files are read. Their meaning is for those who need them.
#pragma once
#include <optional>
#include <string>

#include "model/config.h"
#include "model/sentence_transformers.h"

namespace tokamak {

struct ModelDescription {
  std::string origin;  // for messages: what stands before "config.json" when there is no such file
  Json config;         // null, which its readers refuse, when there is no such file
  std::optional<Json> generation_config;
  std::optional<Json> quantize_config;  // of GPTQ's tools
  std::optional<Json> hints;            // tokamak.json
  std::optional<Json> image_processor;  // how images are made ready; of the reference's processors
  std::optional<EncoderFiles> encoder;
  std::string pooling;  // how a GGUF file makes embeddings: mean, cls, last or rank; "": not said

  /// REQUIRES: the description outlives the reader.
  ConfigReader reader() const { return {config, origin + "config.json"}; }
};

/// Describes a model in the Hugging Face layout. Errors: those of `read`, and a file that is no
/// JSON, or no list of modules, by its name.
Result<ModelDescription> read_description(const ReadText& read);

}  // namespace tokamak
