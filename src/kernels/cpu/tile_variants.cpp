#include "kernels/cpu/tile_variants.h"

namespace tokamak {

std::string refuses_tiles(const Problem& problem, const DeviceInfo&) {
  const DType dtype = problem.inputs[1].dtype;
  if (problem.decodes || problem.max_tokens < kMinTileRows) {
    return fmt::format("has fewer than {} rows", kMinTileRows);
  }
  if (!multiplies_tiles(dtype)) return fmt::format("{} is not rounded to bf16", dtype_name(dtype));
  if (is_packed(dtype) && !tile_unit()->for_packed) {
    return fmt::format("words are as fast as {}", tile_unit()->name);
  }
  return "";
}

}  // namespace tokamak
