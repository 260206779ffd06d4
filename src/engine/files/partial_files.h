// Reads models of which not every tensor can be read, to report on them.
#pragma once
#include <string>

#include "engine/files/model_files.h"
#include "formats/unread.h"

namespace tokamak {

/// The read_model_files() of model_files.h that lists tensors of types that are not read apart.
Result<ModelFiles> read_model_files(const std::string& path, UnreadTensors& unread,
                                    const std::string& projector = "");

}  // namespace tokamak
