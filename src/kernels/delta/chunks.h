// The rule of delta/rule.wgsl for chunks of tokens, on matrix units; chunk_fragments.wgsl has the
// kernels' text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/launch.h"

namespace tokamak {

/// Why delta/NAME.wgsl does not run in chunks for `p`, "" if it does.
std::string chunks_refuse(const Problem& p, const DeviceInfo& device);

/// Its launch with constants of its `own`.
Launch chunks_launch(const Problem& p, std::string_view name, std::vector<Constant> own);

}  // namespace tokamak
