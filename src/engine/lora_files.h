// Adapters as people name them and as folders have them. Native programs only.
#pragma once
#include <string_view>
#include <vector>

#include "engine/open_options.h"
#include "model/lora.h"

namespace tokamak {

/// "[NAME=]FOLDER[=SCALE]", whose name is the folder's without one. Errors: no folder, a scale that
/// is no finite number.
Result<AdapterOption> adapter_named(std::string_view text);

/// The files of PEFT in those folders. Errors name the folder and what is missing there, or the
/// name that two have.
Result<std::vector<LoraFiles>> read_adapters(const std::vector<AdapterOption>& adapters);

}  // namespace tokamak
