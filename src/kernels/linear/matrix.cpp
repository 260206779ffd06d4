#include "kernels/linear/matrix.h"

#include "kernels/linear/matrix_tile.h"
#include "kernels/linear/matvec.h"
#include "kernels/quant/codec.h"
#include "kernels/workgroup_memory.h"

namespace tokamak {
namespace {

/// With fewer workgroups for each multiprocessor some have none at times.
constexpr uint32_t kGroupsEach = 2;

std::string refuses(const Problem& p, const DeviceInfo& device, const MatrixTile& tile) {
  if (!per_token(p)) return "is for several tokens";
  std::string reason = tile_refuses(tile, device);
  return reason.empty() ? wide_rows(p) : reason;
}

Launch matrix(const Problem& p, const MatrixTile& tile) {
  Launch launch{.constants = part_sizes(p, tile.threads()),
                .sources = {"linear/matrix.wgsl"},
                .grid = {.x = {ceil_div(row_count(p), tile.rows())},
                         .y = {1, tile.tokens()},
                         .z = {part_count(p)}}};
  add_ending(launch, p);
  return with_tile(p, tile, std::move(launch));
}

}  // namespace

std::string tile_refuses(const MatrixTile& tile, const DeviceInfo& device, uint32_t more_bytes) {
  if (std::string lanes = lacks_matrix_lanes(device); !lanes.empty()) return lanes;
  const uint32_t bytes = tile.bytes() + more_bytes;
  return refuse_workgroup_bytes(bytes, device);
}

Launch with_tile(const Problem& p, const MatrixTile& tile, Launch launch, bool by_columns) {
  const uint32_t eights = kMatrixSide * tile.step / 8;
  launch.sources.insert(launch.sources.begin(), {"wgsl/powers.wgsl", "linear/matrix_tile.wgsl"});
  launch.sources.emplace_back("wgsl/entry_subgroup_id.wgsl");
  launch.constants.insert(launch.constants.end(),
                          {{"LANES", kMatrixLanes},
                           {"BY_COLUMNS", by_columns ? 1u : 0u},
                           {"SUBGROUPS_T", tile.subgroups_t},
                           {"SUBGROUPS_R", tile.subgroups_r},
                           {"FRAGMENTS_T", tile.fragments_t},
                           {"FRAGMENTS_R", tile.fragments_r},
                           {"STEP_FRAGMENTS", tile.step},
                           {"DEPTH", tile.depth},
                           {"AHEAD", tile.ahead},
                           {"UNROLL", tile.unroll()},
                           {"REGIONS", tile.regions},
                           {"SPREADS_LINES", tile.spreads_lines ? 1u : 0u},
                           {"OWN_X", 2 * tile.tokens() * eights / tile.threads()},
                           {"OWN_W", tile.rows() * eights / tile.threads()}});
  return with_codec(halves_codec(p.inputs[1]), std::move(launch));
}

std::string narrow_matrix_refuses(const Problem& p, const DeviceInfo& device) {
  if (p.max_tokens > kFewTiles[2].tokens()) {
    return fmt::format("is for at most {} tokens, not {}", kFewTiles[2].tokens(), p.max_tokens);
  }
  return refuses(p, device, few_tile(p.max_tokens));
}
Launch narrow_matrix(const Problem& p, const DeviceInfo&) {
  return matrix(p, few_tile(p.max_tokens));
}

std::string large_matrix_refuses(const Problem& p, const DeviceInfo& device) {
  const uint32_t groups =
      ceil_div(row_count(p), kLargeTile.rows()) * ceil_div(p.max_tokens, kLargeTile.tokens());
  const uint32_t enough = device.size.groups(kGroupsEach);
  if (per_token(p) && groups < enough) {
    return fmt::format("would have {} workgroups, fewer than {}", groups, enough);
  }
  return refuses(p, device, large_tile(device));
}
Launch large_matrix(const Problem& p, const DeviceInfo& device) {
  return matrix(p, large_tile(device));
}

std::string small_matrix_refuses(const Problem& p, const DeviceInfo& device) {
  return refuses(p, device, kSmallTile);
}
Launch small_matrix(const Problem& p, const DeviceInfo&) {
  return matrix(p, kSmallTile);
}

}  // namespace tokamak
