// A GGUF file as the files of a model folder: one file holds what a folder has in six.
#pragma once
#include "engine/files/model_files.h"
#include "formats/gguf.h"

namespace tokamak {

/// The vocabulary, chat templates and recommended sampling; no weights and no config.
Result<ModelFiles> gguf_text_files(const GgufFile& file);

/// All of it. Errors name the file and the key.
Result<ModelFiles> gguf_model_files(const GgufFile& file);

}  // namespace tokamak
