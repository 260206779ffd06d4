// A GGUF file as the files of a model folder: one file holds what a folder has in six.
#pragma once
#include "engine/files/model_files.h"
#include "formats/gguf.h"

namespace tokamak {

/// The vocabulary, chat templates and recommended sampling; no weights and no config.
Result<ModelFiles> gguf_text_files(const GgufFile& file);

/// All of it, with the tower of images in `projector`, where that is not null. Errors name the file
/// and the key.
Result<ModelFiles> gguf_model_files(const GgufFile& file, const GgufFile* projector = nullptr);

}  // namespace tokamak
