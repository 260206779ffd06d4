// A processor, or a system, without units for tiles.
#include "base/check.h"
#include "kernels/cpu/panel_task.h"
#include "kernels/cpu/tiles.h"

namespace tokamak {

std::span<const TileUnit* const> tile_units() {
  return {};
}

void multiply_tiles(ThreadPool&, const TileUnit&, std::span<const float>, const CpuTensor&,
                    const float*, std::span<const PartProduct>) {
  TOK_CHECK(false);  // there is no unit
}

}  // namespace tokamak
