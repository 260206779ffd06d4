// A model whose files are sources of bytes: what a page has fetched, keeps or was given.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "engine/files/model_files.h"

namespace tokamak {

/// By their names in the model's folder: "config.json", "2_Dense/model.safetensors".
using SourceFiles = std::map<std::string, std::shared_ptr<ByteSource>>;

/// Reads the files of a model folder in the Hugging Face layout, or the parts of a GGUF model. What
/// is not a weight is read as a whole, weights are when they are needed. Errors name the file.
Result<ModelFiles> read_model_files(std::string name, const SourceFiles& files);

}  // namespace tokamak
