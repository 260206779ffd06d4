// Checkpoints that are kept as a recipe: tests/data/families/NAME.json has a config.json, how each
// tensor is made, and what transformers answered (tools/record_families.py).
#pragma once
#include <string>
#include <vector>

#include "base/json.h"

namespace tokamak::golden {

/// Names of tests/data/families, sorted, without ".json".
std::vector<std::string> family_names();
std::string family_file(const std::string& name);

/// Writes config.json and model.safetensors of `family`, a file of those, into a folder of this
/// process, and gives the folder.
std::string made_checkpoint(const std::string& name, const Json& family);

}  // namespace tokamak::golden
