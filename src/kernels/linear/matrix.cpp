#include "kernels/linear/matrix.h"

#include <algorithm>

#include "kernels/linear/matvec.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

constexpr uint32_t kLanes = 32;

/// See matrix.wgsl.
struct MatrixTile {
  uint32_t subgroups_t, subgroups_r;  // subgroups along the tokens and along the rows
  uint32_t fragments_t, fragments_r;  // of each
  uint32_t step;                      // fragments of columns that lie in workgroup memory
  uint32_t regions;                   // subgroups whose results lie there at a time
  uint32_t depth = 1;                 // steps that lie there at once
  uint32_t ahead = 1;                 // steps that are on their way
  bool spreads_lines = true;          // that lanes store at a time, over the banks of that memory

  constexpr uint32_t threads() const { return kLanes * subgroups_t * subgroups_r; }
  constexpr uint32_t unroll() const { return std::max(depth, ahead); }
  constexpr uint32_t tokens() const { return kMatrixSide * subgroups_t * fragments_t; }
  constexpr uint32_t rows() const { return kMatrixSide * subgroups_r * fragments_r; }
  /// The workgroup memory for a step of each token and row, padded, and the results.
  constexpr uint32_t bytes() const {
    return depth * (32 * step + 16) * (tokens() + rows()) + 1024 * regions + 32;
  }
};
/// NVIDIA's driver sets 48 KiB of a multiprocessor's memory aside, so that two workgroups share it
/// only below 23 KiB each; with one the kernels take twice as long (H200).
constexpr MatrixTile kSmall = {2, 2, 2, 2, 4, 4};
/// It has so few registers left that lines that are spread make it slower there, by a seventh.
constexpr MatrixTile kLarge = {.subgroups_t = 2,
                               .subgroups_r = 2,
                               .fragments_t = 4,
                               .fragments_r = 4,
                               .step = 2,
                               .regions = 2,
                               .spreads_lines = false};
/// CUDA leaves a multiprocessor all of its memory: the results of all subgroups lie there at once,
/// which saves half the barriers of an ending.
constexpr MatrixTile kLargeCuda = {2, 2, 4, 4, 2, 4};
/// For at most 16, 32 and 64 tokens, as measured on an H100 (docs/history/performance.md). The
/// first takes more memory than that, for one barrier a step instead of two, which gains more.
constexpr MatrixTile kFew[] = {{1, 4, 1, 1, 4, 1, 2, 2}, {1, 4, 2, 1, 4, 4, 1, 2}, kSmall};
static_assert(kFew[0].bytes() <= 24 << 10 && kFew[1].bytes() <= 23 << 10);
// Unrolled rounds begin with step 0 of both, again and again.
static_assert(std::ranges::all_of(kFew, [](const MatrixTile& tile) {
  return tile.unroll() % tile.depth == 0 && tile.unroll() % tile.ahead == 0;
}));
static_assert(kLarge.bytes() <= 23 << 10 && kSmall.bytes() <= 23 << 10);

const MatrixTile& large_tile(const DeviceInfo& device) {
  return device.backend == BackendKind::kCuda ? kLargeCuda : kLarge;
}

/// With fewer workgroups for each multiprocessor some have none at times.
constexpr uint32_t kGroupsEach = 2;

const MatrixTile& few_tile(const Problem& p) {
  return *std::ranges::find_if(kFew, [&](const MatrixTile& tile) {
    return tile.tokens() >= std::min(p.max_tokens, kFew[2].tokens());
  });
}

std::string refuses(const Problem& p, const DeviceInfo& device, const MatrixTile& tile) {
  if (!per_token(p)) return "is for several tokens";
  if (device.subgroup_min != kLanes || device.subgroup_max != kLanes) {
    return fmt::format("subgroups have {} to {} lanes, it needs {}", device.subgroup_min,
                       device.subgroup_max, kLanes);
  }
  if (tile.bytes() > device.limits.workgroup_bytes) {
    return fmt::format("needs {} bytes of workgroup memory, there are {}", tile.bytes(),
                       device.limits.workgroup_bytes);
  }
  return wide_rows(p);
}

Launch matrix(const Problem& p, const MatrixTile& tile) {
  Launch launch{.constants = part_sizes(p, tile.threads()),
                .sources = {"linear/matrix.wgsl", "wgsl/entry_subgroup_id.wgsl"},
                .grid = {.x = {ceil_div(row_count(p), tile.rows())},
                         .y = {1, tile.tokens()},
                         .z = {part_count(p)}}};
  const uint32_t eights = kMatrixSide * tile.step / 8;
  launch.constants.insert(launch.constants.end(),
                          {{"LANES", kLanes},
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
  add_ending(launch, p);
  return with_codec(wide_codec(p.inputs[1]), std::move(launch));
}

}  // namespace

std::string narrow_matrix_refuses(const Problem& p, const DeviceInfo& device) {
  if (p.max_tokens > kFew[2].tokens()) {
    return fmt::format("is for at most {} tokens, not {}", kFew[2].tokens(), p.max_tokens);
  }
  return refuses(p, device, few_tile(p));
}
Launch narrow_matrix(const Problem& p, const DeviceInfo&) {
  return matrix(p, few_tile(p));
}

std::string large_matrix_refuses(const Problem& p, const DeviceInfo& device) {
  const uint32_t groups =
      ceil_div(row_count(p), kLarge.rows()) * ceil_div(p.max_tokens, kLarge.tokens());
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
  return refuses(p, device, kSmall);
}
Launch small_matrix(const Problem& p, const DeviceInfo&) {
  return matrix(p, kSmall);
}

}  // namespace tokamak
