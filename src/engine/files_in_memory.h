// A model whose files are in memory: what a page has fetched or a person has chosen there.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tokamak {

using FilesInMemory = std::map<std::string, std::vector<std::byte>>;  // by their names

/// Reads the files of a model folder in the Hugging Face layout, or one .gguf file. Errors name the
/// file. Embedding models of several modules are kUnsupported.
Result<ModelFiles> read_model_files(std::string name, FilesInMemory files);

}  // namespace tokamak
