#include "engine/memory.h"

#include "base/table.h"

namespace tokamak {

Error does_not_fit(const Engine::Compiled& compiled, const DeviceInfo& device, const Error& why) {
  const Footprint needed = footprint(compiled.plan);
  return {
      why.code,
      fmt::format("The model does not fit into the memory of \"{}\": it needs {} of weights "
                  "and tables, {} of KV cache and states for {} positions, and {} for steps of {} "
                  "tokens. A smaller context or chunk needs less, and so do weights of "
                  "floats that are quantized (quantize q8 or q4). ({})",
                  device.name, bytes_text(needed.constants), bytes_text(needed.states),
                  compiled.context, bytes_text(needed.activations + needed.other),
                  compiled.plan.chunk(), why.message)};
}

}  // namespace tokamak
