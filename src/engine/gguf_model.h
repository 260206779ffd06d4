// A GGUF model by path, with its tower of images ("mmproj"), which people name or which lies beside
// it. Native programs only.
#pragma once
#include <string>

#include "engine/files/model_files.h"
#include "formats/unread.h"

namespace tokamak {

/// `projector` is the file of the tower; "": one of the .gguf files beside the model whose names
/// have "mmproj" and that are for this text; of several the one whose type is kept best and read
/// fastest: F16, then BF16, others, F32. `unread` null: a tensor of a type that is not read is an
/// error. Errors: also where `projector` is not for the text.
Result<ModelFiles> read_gguf_model(const std::string& path, const std::string& projector,
                                   UnreadTensors* unread);

}  // namespace tokamak
