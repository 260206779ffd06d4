// A model in NeMo's file. Native programs only.
#pragma once
#include <string>

#include "engine/files/model_files.h"

namespace tokamak {

/// The .nemo file that `path` is, or, in a folder without config.json, the only one there; "":
/// none.
std::string find_nemo(const std::string& path);

Result<ModelFiles> nemo_model_files(const std::string& path);

}  // namespace tokamak
