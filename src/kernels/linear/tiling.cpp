#include "kernels/linear/tiling.h"

#include <numeric>

#include "graph/fixed_point_sums.h"

namespace tokamak {

const FusedLinear* fused_part(const Op& op) {
  if (const auto* down = std::get_if<GatedFfn>(&op)) return &down->glu;
  return std::get_if<FusedLinear>(&op);
}

bool takes_argmax(const Problem& p) {
  const auto* fused = fused_part(*p.op);
  return fused != nullptr && fused->epilogue == Epilogue::kArgmax;
}

bool merges_splits(const Problem& p) {
  const auto* fused = fused_part(*p.op);
  return fused != nullptr && fused->prologue == Prologue::kMergeSplits;
}

bool has_plain_x(const Problem& p) {
  const auto* fused = fused_part(*p.op);
  return fused == nullptr || fused->prologue == Prologue::kNone;
}

namespace {

uint32_t multiprocessors(const DeviceInfo& device) {
  return device.size.multiprocessors;
}
/// Workgroups that run at once while a lane takes some 64 registers.
uint32_t wave(const DeviceInfo& device) {
  return 4 * multiprocessors(device);
}

/// The rows whose partial sums a workgroup keeps at once: a float of each lane, or of each
/// subgroup, which may be as small as four lanes. It has 4 KiB for them, 2 beside the largest x' or
/// what is kept of heads.
uint32_t max_rows(const Tiling& tiling, const Problem& p) {
  if (tiling.reduction == Reduction::kMemory) return 1024 / tiling.lanes;
  if (tiling.reduction != Reduction::kSubgroups) return 128;
  const auto* fused = fused_part(*p.op);
  const bool has_heads = fused != nullptr && fused->prologue == Prologue::kHeadNorm;
  const bool is_full = has_heads || merges_splits(p) || tiling.lanes > kMinLanes;
  return (is_full ? 2048 : 4096) / tiling.lanes;
}

/// Sets how many iterations a workgroup runs. Totals of some rows stay in workgroup memory; more
/// come in repeats.
void set_iterations(Tiling& tiling, const Problem& p, uint32_t iterations) {
  const uint32_t rows = iterations * tiling.iteration_rows();
  const uint32_t piece = takes_argmax(p) ? kArgmaxBlock : tiling.iteration_rows();
  tiling.group_rows =
      std::min(ceil_div(rows, piece), std::max(1u, max_rows(tiling, p) / piece)) * piece;
  tiling.repeats = ceil_div(rows, tiling.group_rows);
}

/// How many iterations a workgroup takes so that no more than `groups` do all rows. Those that have
/// a second iteration take more registers than those of a single one, so that fewer run at once,
/// and a few more of these may begin as others end.
uint32_t turns_for(uint32_t groups, const Tiling& tiling, const Problem& p,
                   const DeviceInfo& device) {
  const uint32_t iterations = ceil_div(row_count(p), tiling.iteration_rows());
  return iterations <= wave(device) + wave(device) / 8 ? 1 : ceil_div(iterations, groups);
}

/// Lane groups of a workgroup where each multiprocessor has one at most.
uint32_t teams_of_one(const Tiling& tiling, const Problem& p, const DeviceInfo& device) {
  return ceil_div(row_count(p), multiprocessors(device) * tiling.block);
}

}  // namespace

Tiling matvec_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec,
                     Reduction reduction) {
  // Columns: with the sums of a workgroup they stay below 16 KiB.
  const uint32_t staged = codec.in_bytes                    ? kByteColumns
                          : reduction == Reduction::kMemory ? 1024
                                                            : kFloatColumns;
  const uint32_t units = in_size(p) / codec.unit, rows = row_count(p);
  const auto* fused = fused_part(*p.op);
  const bool adds = fused != nullptr && fused->adds(), is_argmax = takes_argmax(p);
  const bool in_chunks = in_size(p) > staged;
  // After a sandwich two rows share an x' that takes long; the largest matrix has waves enough for
  // more registers in a lane.
  const uint32_t loads = adds && !codec.in_bytes ? 12 : is_argmax && codec.in_bytes ? 10 : 8;
  Tiling tiling{.reduction = reduction};
  tiling.lanes = is_argmax ? kMinLanes : power_of_two(units / loads, kMinLanes, 64);
  const uint32_t whole = ceil_div(units, tiling.lanes);
  const uint32_t rows_per_block = codec.in_bytes ? 3072 : adds ? 4096 : kRowsPerBlock;
  tiling.block = power_of_two(rows / rows_per_block, 1, is_argmax && !codec.in_bytes ? 2 : 4);
  if (codec.in_bytes && (in_chunks || merges_splits(p)))
    tiling.block = 2;  // their x' takes longest
  // Rows of a head come in equal parts rather than one by one.
  const bool in_parts = is_argmax && !codec.in_bytes && whole % (loads / tiling.block) == 0;
  while (!in_chunks && !in_parts && tiling.block > 1 && whole * tiling.block > loads)
    tiling.block /= 2;
  tiling.rounds = std::min(whole * tiling.block <= loads ? whole : loads / tiling.block,
                           std::max(1u, staged / (tiling.lanes * codec.unit)));
  if (codec.in_bytes || adds) {
    set_iterations(tiling, p, turns_for(wave(device) / 2, tiling, p, device));
  } else if (is_argmax) {
    set_iterations(tiling, p, (in_parts ? 1 : 2) * kArgmaxBlock / tiling.iteration_rows());
  } else {
    // A cheap x' lets workgroups that begin as others end hide their waits.
    const uint32_t iterations = turns_for(wave(device), tiling, p, device);
    set_iterations(tiling, p, iterations == 2 ? 2 : 1);
  }
  // Bytes have more to compute than to wait for.
  tiling.ahead = in_chunks && !codec.in_bytes && !is_argmax;
  return tiling;
}

std::optional<Tiling> even_tiling(const Problem& p, const DeviceInfo& device,
                                  const UnitCodec& codec, Reduction reduction) {
  Tiling even = matvec_tiling(p, device, codec, reduction);
  const uint32_t groups = ceil_div(row_count(p), even.iteration_rows());
  if (groups <= multiprocessors(device) || groups > 2 * multiprocessors(device))
    return std::nullopt;
  even.threads = even.lanes * round_up(teams_of_one(even, p, device), 2u);  // they end in pairs
  set_iterations(even, p, 1);
  return even;
}

Tiling even_bytes_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec) {
  constexpr uint32_t kMinLaneGroups = 8, kMaxLaneGroups = 24;
  Tiling even{.reduction = Reduction::kShuffles};
  even.block = ceil_div(teams_of_one(even, p, device), kMaxLaneGroups);
  const uint32_t lane_groups = round_up(teams_of_one(even, p, device), 2u);  // they end in pairs
  even.threads = even.lanes * std::max(kMinLaneGroups, lane_groups);
  even.rounds = ceil_div(in_size(p) / codec.unit, even.lanes);
  set_iterations(even, p, 1);
  return even;
}

Tiling many_lanes_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec) {
  Tiling tiling{.reduction = Reduction::kShuffles, .threads = kManyLanes, .block = 2};
  uint32_t staged = kByteColumns;
  if (merges_splits(p)) {
    // At most one workgroup for each multiprocessor, as many of them as there can be.
    tiling.threads =
        std::clamp(tiling.lanes * teams_of_one(tiling, p, device), kManyLanes / 2, kManyLanes);
  } else {
    tiling.lanes = 64;
    // A row by itself has room for all of its x', as long as that is one wave.
    if (ceil_div(row_count(p), kManyLanes / tiling.lanes) <= wave(device) / 2) {
      tiling.block = 1;
      staged *= 2;
    }
    // Rather one workgroup on all multiprocessors than two on some, one on others.
    const uint32_t teams = round_up(teams_of_one(tiling, p, device), 2u);  // they end in pairs
    if (ceil_div(row_count(p), tiling.iteration_rows()) > multiprocessors(device) &&
        tiling.lanes * teams <= kMaxLanes) {
      tiling.threads = tiling.lanes * teams;
    }
  }
  tiling.rounds = std::min(ceil_div(in_size(p) / codec.unit, tiling.lanes),
                           staged / (tiling.lanes * codec.unit));
  set_iterations(tiling, p,
                 ceil_div(ceil_div(row_count(p), tiling.iteration_rows()), wave(device) / 2));
  return tiling;
}

Tiling register_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec,
                       Reduction reduction) {
  const uint32_t units = in_size(p) / codec.unit;
  Tiling tiling{.reduction = reduction, .in_registers = true};
  tiling.rounds = ceil_div(units, tiling.threads);
  tiling.threads = tiling.lanes = round_up(ceil_div(units, tiling.rounds), kMinLanes);
  tiling.block = power_of_two(row_count(p) / device.size.groups(4), 2, 4);
  set_iterations(tiling, p, 1);
  return tiling;
}

Tiling narrow_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec) {
  Tiling tiling{.reduction = Reduction::kNarrow, .lanes = kNarrowLanes};
  tiling.rounds = ceil_div(in_size(p) / codec.unit, tiling.lanes);
  tiling.block = tiling.rounds <= 5 ? 2 : 1;
  set_iterations(tiling, p, turns_for(wave(device) / 2, tiling, p, device));
  return tiling;
}

Tiling gated_ffn_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec,
                        const Tiling& kind, uint32_t unit) {
  // A software device's workgroups keep at most this many columns.
  constexpr uint32_t kSoftwareGroups = 4, kSoftwareSlice = 512;
  constexpr uint32_t kMaxSlices = 128;  // each makes x' for itself and adds to all sums
  const uint32_t columns = row_count(p) / 2;
  Tiling tiling = kind;
  const uint32_t staged = tiling.reduction == Reduction::kMemory ? 1024
                          : codec.in_bytes                       ? kByteColumns
                                                                 : kFloatColumns;
  const uint32_t whole = ceil_div(in_size(p) / codec.unit, tiling.lanes);
  tiling.rounds = std::min(whole, staged / (tiling.lanes * codec.unit));
  const uint32_t lane_groups = tiling.threads / tiling.lanes;
  uint32_t groups = lane_groups == 1 ? std::max(kSoftwareGroups, ceil_div(columns, kSoftwareSlice))
                                     : multiprocessors(device);
  // Few multiprocessors would have larger slices than fit: each takes one after another.
  const uint32_t most_columns = tiling.has_lane_groups() ? kMaxGroupLanes * unit : kMaxSlice;
  const uint32_t most_groups =
      tiling.has_lane_groups() ? kMaxSlices : FixedPointSum::kMaxAddends - 1;
  while (lane_groups > 1 && groups * most_columns < columns &&
         groups + multiprocessors(device) <= most_groups) {
    groups += multiprocessors(device);
  }
  groups = std::min(groups, FixedPointSum::kMaxAddends - 1);
  uint32_t units = ceil_div(columns, groups * unit);
  // No lane of a lane group for a row of D is idle where that keeps three quarters of the
  // multiprocessors busy.
  const uint32_t lane_group = std::bit_ceil(units);
  const bool busies = 4 * ceil_div(columns, lane_group * unit) >= 3 * groups;
  if (tiling.has_lane_groups() && busies) units = lane_group;
  while (2 * units * unit % lane_groups != 0) ++units;
  const uint32_t rows = 2 * units * unit;
  const uint32_t loads = tiling.reduction == Reduction::kNarrow ? 10 : 8;
  for (tiling.block = 4; tiling.block > 1; tiling.block /= 2) {
    if (rows % tiling.iteration_rows() == 0 && tiling.rounds * tiling.block <= loads) break;
  }
  // Columns that become bytes do so in whole units.
  const uint32_t piece = std::lcm(tiling.iteration_rows(), codec.in_bytes ? 2 * unit : 2);
  const uint32_t most = std::max(max_rows(tiling, p), piece);
  tiling.repeats = 1;
  while (rows / tiling.repeats > most || rows % (tiling.repeats * piece) != 0) ++tiling.repeats;
  tiling.group_rows = rows / tiling.repeats;
  return tiling;
}

Tiling software_tiling(const Problem& p, const UnitCodec& codec) {
  constexpr uint32_t kLoads = 8, kGroups = 4, kMaxRows = 128;
  Tiling tiling{.threads = kMinLanes};
  tiling.rounds = ceil_div(in_size(p) / codec.unit, kMinLanes);
  // Compilers for cores take long over more; rows are finished in pairs.
  tiling.block = power_of_two(kLoads / std::min(tiling.rounds, kLoads), 2, 4);
  const uint32_t blocks = ceil_div(row_count(p), kGroups * tiling.block);
  tiling.group_rows = takes_argmax(p) ? kArgmaxBlock : std::min(blocks * tiling.block, kMaxRows);
  return tiling;
}

}  // namespace tokamak
