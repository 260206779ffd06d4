#include "kernels/linear/deal.h"

#include <numeric>

#include "graph/exact_sums.h"

namespace tokamak {

const FusedLinear* fused_part(const Op& op) {
  if (const auto* down = std::get_if<GatedDown>(&op)) return &down->glu;
  return std::get_if<FusedLinear>(&op);
}

bool takes_argmax(const Problem& p) {
  const auto* fused = fused_part(*p.op);
  return fused != nullptr && fused->behind == Behind::kArgmax;
}

bool merges_splits(const Problem& p) {
  const auto* fused = fused_part(*p.op);
  return fused != nullptr && fused->before == Before::kMergeSplits;
}

bool has_plain_x(const Problem& p) {
  const auto* fused = fused_part(*p.op);
  return fused == nullptr || fused->before == Before::kNone;
}

namespace {

uint32_t multiprocessors(const DeviceInfo& device) {
  return device.size.multiprocessors;
}
/// Workgroups that run at once while a lane takes some 64 registers.
uint32_t wave(const DeviceInfo& device) {
  return 4 * multiprocessors(device);
}

/// Of which a workgroup keeps at once what is added up of each: a float of each lane, or of each
/// subgroup, which may be as small as four lanes. It has 4 KiB for them, 2 beside the largest x' or
/// what is kept of heads.
uint32_t most_rows(const Deal& deal, const Problem& p) {
  if (deal.fold == Fold::kMemory) return 1024 / deal.lanes;
  if (deal.fold != Fold::kSubgroups) return 128;
  const auto* fused = fused_part(*p.op);
  const bool has_heads = fused != nullptr && fused->before == Before::kHeadNorm;
  const bool is_full = has_heads || merges_splits(p) || deal.lanes > kFewestLanes;
  return (is_full ? 2048 : 4096) / deal.lanes;
}

/// Gives a workgroup so many turns. Totals of some rows stay in workgroup memory; more come in
/// repeats.
void take_turns(Deal& deal, const Problem& p, uint32_t turns) {
  const uint32_t rows = turns * deal.turn_rows();
  const uint32_t piece = takes_argmax(p) ? kArgmaxBlock : deal.turn_rows();
  deal.group_rows =
      std::min(ceil_div(rows, piece), std::max(1u, most_rows(deal, p) / piece)) * piece;
  deal.repeats = ceil_div(rows, deal.group_rows);
}

/// How many turns a workgroup takes so that no more than `groups` do all rows. Those that have a
/// second turn take more registers than those of a single one, so that fewer run at once, and a few
/// more of these may begin as others end.
uint32_t turns_for(uint32_t groups, const Deal& deal, const Problem& p, const DeviceInfo& device) {
  const uint32_t turns = ceil_div(row_count(p), deal.turn_rows());
  return turns <= wave(device) + wave(device) / 8 ? 1 : ceil_div(turns, groups);
}

/// Teams of a workgroup where each multiprocessor has one at most.
uint32_t teams_of_one(const Deal& deal, const Problem& p, const DeviceInfo& device) {
  return ceil_div(row_count(p), multiprocessors(device) * deal.block);
}

}  // namespace

Deal deal(const Problem& p, const DeviceInfo& device, const UnitCodec& codec, Fold fold) {
  // Columns: with the sums of a workgroup they stay below 16 KiB.
  const uint32_t staged = codec.in_bytes          ? kByteColumns
                          : fold == Fold::kMemory ? 1024
                                                  : kFloatColumns;
  const uint32_t units = in_size(p) / codec.unit, rows = row_count(p);
  const auto* fused = fused_part(*p.op);
  const bool adds = fused != nullptr && fused->adds(), is_argmax = takes_argmax(p);
  const bool in_chunks = in_size(p) > staged;
  // Behind a sandwich two rows share an x' that takes long.
  const uint32_t loads = adds && !codec.in_bytes ? 12 : 8;
  Deal deal{.fold = fold};
  deal.lanes = is_argmax ? kFewestLanes : power_of_two(units / loads, kFewestLanes, 64);
  const uint32_t whole = ceil_div(units, deal.lanes);
  const uint32_t rows_per_block = codec.in_bytes ? 3072 : adds ? 4096 : kRowsPerBlock;
  deal.block = power_of_two(rows / rows_per_block, 1, is_argmax && !codec.in_bytes ? 2 : 4);
  if (codec.in_bytes && (in_chunks || merges_splits(p))) deal.block = 2;  // their x' takes longest
  // Rows of a head come in equal parts rather than one by one.
  const bool in_parts = is_argmax && !codec.in_bytes && whole % (loads / deal.block) == 0;
  while (!in_chunks && !in_parts && deal.block > 1 && whole * deal.block > loads) deal.block /= 2;
  deal.rounds = std::min(whole * deal.block <= loads ? whole : loads / deal.block,
                         std::max(1u, staged / (deal.lanes * codec.unit)));
  if (codec.in_bytes || adds) {
    take_turns(deal, p, turns_for(wave(device) / 2, deal, p, device));
  } else if (is_argmax) {
    take_turns(deal, p, (in_parts ? 1 : 2) * kArgmaxBlock / deal.turn_rows());
  } else {
    // Where x' is cheap, workgroups that begin as others end hide their waits.
    const uint32_t turns = turns_for(wave(device), deal, p, device);
    take_turns(deal, p, turns == 2 ? 2 : 1);
  }
  // Bytes have more to compute than to wait for.
  deal.ahead = in_chunks && !codec.in_bytes && !is_argmax;
  return deal;
}

std::optional<Deal> even_deal(const Problem& p, const DeviceInfo& device, const UnitCodec& codec,
                              Fold fold) {
  Deal even = deal(p, device, codec, fold);
  const uint32_t groups = ceil_div(row_count(p), even.turn_rows());
  if (groups <= multiprocessors(device) || groups > 2 * multiprocessors(device))
    return std::nullopt;
  even.threads = even.lanes * round_up(teams_of_one(even, p, device), 2u);  // they end in pairs
  take_turns(even, p, 1);
  return even;
}

Deal even_bytes_deal(const Problem& p, const DeviceInfo& device, const UnitCodec& codec) {
  constexpr uint32_t kFewestTeams = 8, kMostTeams = 24;
  Deal even{.fold = Fold::kShuffles};
  even.block = ceil_div(teams_of_one(even, p, device), kMostTeams);
  const uint32_t teams = round_up(teams_of_one(even, p, device), 2u);  // they end in pairs
  even.threads = even.lanes * std::max(kFewestTeams, teams);
  even.rounds = ceil_div(in_size(p) / codec.unit, even.lanes);
  take_turns(even, p, 1);
  return even;
}

Deal many_lanes_deal(const Problem& p, const DeviceInfo& device, const UnitCodec& codec) {
  Deal deal{.fold = Fold::kShuffles, .threads = kManyLanes, .block = 2};
  uint32_t staged = kByteColumns;
  if (merges_splits(p)) {
    // At most one workgroup for each multiprocessor, as many of them as there can be.
    deal.threads =
        std::clamp(deal.lanes * teams_of_one(deal, p, device), kManyLanes / 2, kManyLanes);
  } else {
    deal.lanes = 64;
    // A row by itself has room for all of its x', as long as that is one wave.
    const uint32_t groups = ceil_div(row_count(p), kManyLanes / deal.lanes);
    if (groups <= wave(device) / 2) {
      deal.block = 1;
      staged *= 2;
      // Rather more rows for each than two workgroups on some multiprocessors.
      const uint32_t all = multiprocessors(device);
      if (groups > all && groups <= all + all / 4) deal.threads = kMostLanes;
    }
  }
  deal.rounds =
      std::min(ceil_div(in_size(p) / codec.unit, deal.lanes), staged / (deal.lanes * codec.unit));
  take_turns(deal, p, ceil_div(ceil_div(row_count(p), deal.turn_rows()), wave(device) / 2));
  return deal;
}

Deal own_deal(const Problem& p, const DeviceInfo& device, const UnitCodec& codec, Fold fold) {
  const uint32_t units = in_size(p) / codec.unit;
  Deal deal{.fold = fold, .own = true};
  deal.rounds = ceil_div(units, deal.threads);
  deal.threads = deal.lanes = round_up(ceil_div(units, deal.rounds), kFewestLanes);
  deal.block = power_of_two(row_count(p) / device.size.groups(4), 2, 4);
  take_turns(deal, p, 1);
  return deal;
}

Deal narrow_deal(const Problem& p, const DeviceInfo& device, const UnitCodec& codec) {
  Deal deal{.fold = Fold::kNarrow, .lanes = kNarrowLanes};
  deal.rounds = ceil_div(in_size(p) / codec.unit, deal.lanes);
  deal.block = deal.rounds <= 5 ? 2 : 1;
  take_turns(deal, p, turns_for(wave(device) / 2, deal, p, device));
  return deal;
}

Deal down_deal(const Problem& p, const DeviceInfo& device, const UnitCodec& codec, const Deal& kind,
               uint32_t unit) {
  // A core's workgroups keep at most so many columns.
  constexpr uint32_t kCoreGroups = 4, kCoreSlice = 512;
  constexpr uint32_t kMostSlices = 128;  // each makes x' for itself and adds to all sums
  const uint32_t columns = row_count(p) / 2;
  Deal deal = kind;
  const uint32_t staged = deal.fold == Fold::kMemory ? 1024
                          : codec.in_bytes           ? kByteColumns
                                                     : kFloatColumns;
  const uint32_t whole = ceil_div(in_size(p) / codec.unit, deal.lanes);
  deal.rounds = std::min(whole, staged / (deal.lanes * codec.unit));
  const uint32_t teams = deal.threads / deal.lanes;
  uint32_t groups =
      teams == 1 ? std::max(kCoreGroups, ceil_div(columns, kCoreSlice)) : multiprocessors(device);
  // Where few multiprocessors would have larger slices than fit, each takes one after another.
  const uint32_t most_columns = deal.has_teams() ? kMostTeam * unit : kMostSlice;
  const uint32_t most_groups = deal.has_teams() ? kMostSlices : ExactSum::kMostAddends - 1;
  while (teams > 1 && groups * most_columns < columns &&
         groups + multiprocessors(device) <= most_groups) {
    groups += multiprocessors(device);
  }
  groups = std::min(groups, ExactSum::kMostAddends - 1);
  uint32_t units = ceil_div(columns, groups * unit);
  // No lane of a team for a row of D is idle where that busies three quarters of the
  // multiprocessors.
  const uint32_t team = std::bit_ceil(units);
  const bool busies = 4 * ceil_div(columns, team * unit) >= 3 * groups;
  if (deal.has_teams() && busies) units = team;
  while (2 * units * unit % teams != 0) ++units;
  const uint32_t rows = 2 * units * unit;
  const uint32_t loads = deal.fold == Fold::kNarrow ? 10 : 8;
  for (deal.block = 4; deal.block > 1; deal.block /= 2) {
    if (rows % deal.turn_rows() == 0 && deal.rounds * deal.block <= loads) break;
  }
  // Columns that become bytes do so in whole units.
  const uint32_t piece = std::lcm(deal.turn_rows(), codec.in_bytes ? 2 * unit : 2);
  const uint32_t most = std::max(most_rows(deal, p), piece);
  deal.repeats = 1;
  while (rows / deal.repeats > most || rows % (deal.repeats * piece) != 0) ++deal.repeats;
  deal.group_rows = rows / deal.repeats;
  return deal;
}

Deal core_deal(const Problem& p, const UnitCodec& codec) {
  constexpr uint32_t kLoads = 8, kGroups = 4, kMostRows = 128;
  Deal deal{.threads = kFewestLanes};
  deal.rounds = ceil_div(in_size(p) / codec.unit, kFewestLanes);
  // Compilers for cores take long over more; rows are finished in pairs.
  deal.block = power_of_two(kLoads / std::min(deal.rounds, kLoads), 2, 4);
  const uint32_t blocks = ceil_div(row_count(p), kGroups * deal.block);
  deal.group_rows = takes_argmax(p) ? kArgmaxBlock : std::min(blocks * deal.block, kMostRows);
  return deal;
}

}  // namespace tokamak
