#include "kernels/linear/small_batch.h"

#include <algorithm>

#include "kernels/linear/matvec.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

constexpr uint32_t kLanes = kMinLanes;
constexpr uint32_t kQuads = kSmallBatch / 4;
constexpr const char* kFinish = "linear/epilogue/finish_tokens.wgsl";

std::string refuses_more(const Problem& p, uint32_t most) {
  if (!per_token(p)) return "is for several tokens";
  return p.max_tokens <= most ? ""
                              : fmt::format("is for at most {} tokens, not {}", most, p.max_tokens);
}

/// How a product is divided among lanes: see small_batch.wgsl.
struct SmallBatchTiling {
  uint32_t threads, block;

  /// To reduction/memory.wgsl a row is another one for every token.
  constexpr uint32_t sums() const { return threads / kLanes * block * kSmallBatch; }
  /// The workgroup memory, where a lane group leaves that many partial sums of each sum.
  constexpr uint32_t bytes(uint32_t partials) const {
    return 4 * (8 * kSmallBatch * kLanes + sums() * partials);
  }
};
// A subgroup leaves one share of a sum, and has at least four lanes. What reduction/*.wgsl has for
// sums of all lanes is not used, and does not count.
constexpr SmallBatchTiling kPlain = {128, 2}, kWidest = {256, 4};
static_assert(kPlain.bytes(kLanes) <= 16 << 10 && kWidest.bytes(kLanes / 4) <= 16 << 10);
// Half a unit of x for four tokens is one lane's to bring.
static_assert(kPlain.threads >= 2 * kLanes * kQuads);

/// x is read once for all rows of a workgroup, of which there must be enough for the device: two
/// for each multiprocessor.
SmallBatchTiling subgroup_tiling(const Problem& p, const DeviceInfo& device) {
  const uint32_t lane_groups = device.size.groups(2) * (kWidest.threads / kLanes);
  return {kWidest.threads, power_of_two(row_count(p) / lane_groups, 2, kWidest.block)};
}

Launch small_batch(const Problem& p, const SmallBatchTiling& tiling, bool subgroups) {
  Launch launch{
      .constants = linear_sizes(p, tiling.threads),
      .sources = {subgroups ? "wgsl/entry_subgroup.wgsl" : "wgsl/entry.wgsl",
                  subgroups ? "linear/reduction/subgroup.wgsl" : "linear/reduction/memory.wgsl",
                  "linear/small_batch.wgsl", kFinish},
      .grid = {}};
  add_groups(launch, ceil_div(row_count(p), tiling.threads / kLanes * tiling.block));
  launch.constants.insert(launch.constants.end(), {{"LANES", kLanes},
                                                   {"BLOCK", tiling.block},
                                                   {"QUADS", kQuads},
                                                   {"GROUP_ROWS", tiling.sums()}});
  add_ending(launch, p);
  return with_codec(wide_codec(p.inputs[1]), std::move(launch));
}

constexpr uint32_t kByteThreads = 256;
/// Workgroup memory for the totals of few tokens, and to spare.
constexpr uint32_t kTotalBytes = 4 << 10;

/// How a product of bytes is divided among lanes: see small_batch_bytes.wgsl.
struct ByteTiling {
  uint32_t lanes, block, rounds, repeats;

  uint32_t rows() const { return kByteThreads / lanes * block; }
  /// The eights of x that a lane makes of a chunk.
  uint32_t each(const UnitCodec& codec) const {
    return ceil_div(kFewRows * rounds * lanes * codec.unit / 8, kByteThreads);
  }
};

/// The workgroup memory for x of a chunk, with the most that leaves a multiprocessor two
/// workgroups.
uint32_t staged_bytes(uint32_t units, const UnitCodec& codec) {
  return kFewRows * (2 * codec.unit * (units + 1) + 8 * units);
}
uint32_t most_staged_bytes(const DeviceInfo& device) {
  const uint32_t most = device.backend == BackendKind::kCuda ? 40u << 10 : 20u << 10;
  return std::min(most, uint32_t(device.limits.workgroup_bytes) - kTotalBytes);
}

/// Lanes for the units of a part, whose totals are narrow where they are few; as much of x as has
/// room, and rows for two workgroups a multiprocessor.
ByteTiling byte_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec) {
  const uint32_t parts = part_count(p), units = in_size(p) / parts / codec.unit;
  ByteTiling tiling{.lanes = power_of_two(units, 8, kLanes), .block = 4, .rounds = 1, .repeats = 1};
  if (tiling.lanes < kLanes) tiling.block = 2;
  const uint32_t all_rounds = ceil_div(units, tiling.lanes);
  while (tiling.rounds < all_rounds && 2 * tiling.each(codec) <= 8 &&
         staged_bytes(2 * tiling.rounds * tiling.lanes, codec) <= most_staged_bytes(device)) {
    tiling.rounds *= 2;
  }
  tiling.rounds = std::min(tiling.rounds, all_rounds);
  if (tiling.rounds == all_rounds) {
    const uint32_t groups = ceil_div(row_count(p), tiling.rows()) * parts;
    tiling.repeats = ceil_div(groups, device.size.groups(2));
  }
  return tiling;
}

}  // namespace

std::string small_batch_bytes_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = refuses_more(p, kFewRows); !reason.empty()) return reason;
  if (std::string reason = no_bytes(p); !reason.empty()) return reason;
  if (std::string reason = lacks_lanes(device, kLanes); !reason.empty()) return reason;
  const uint32_t unit = byte_units(p.inputs[1]).unit, columns = in_size(p) / part_count(p);
  if (columns % unit != 0) return fmt::format("{} columns are no whole units of {}", columns, unit);
  return small_workgroups(device, kByteThreads);
}
Launch small_batch_bytes(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = byte_units(p.inputs[1]);
  const ByteTiling tiling = byte_tiling(p, device, codec);
  const bool is_whole = tiling.lanes == kLanes;  // whether a lane group is a subgroup
  Launch launch{
      .constants = part_sizes(p, kByteThreads),
      .sources = {"wgsl/entry_subgroup.wgsl", "linear/staging/eights.wgsl"},
      .grid = {.x = {ceil_div(row_count(p), tiling.repeats * tiling.rows())}, .z = {part_count(p)}},
      .rebound_inputs = {1}};
  if (is_whole) launch.sources.emplace_back("linear/reduction/all_shuffle.wgsl");
  launch.sources.insert(
      launch.sources.end(),
      {is_whole ? "linear/reduction/shuffle.wgsl" : "linear/reduction/narrow.wgsl",
       is_whole ? "linear/reduction/four.wgsl" : "linear/reduction/each.wgsl",
       "linear/small_batch_bytes.wgsl", kFinish});
  launch.constants.insert(launch.constants.end(),
                          {{"UNIT", codec.unit},
                           {"LANES", tiling.lanes},
                           {"BLOCK", tiling.block},
                           {"ROUNDS", tiling.rounds},
                           {"REPEATS", tiling.repeats},
                           {"TOKENS", kFewRows},
                           {"GROUP_ROWS", kFewRows * tiling.rows()},
                           {"EIGHTS", codec.unit / 8},
                           {"EIGHT_STEPS", doublings(codec.unit / 8)},
                           {"EACH", tiling.each(codec)},
                           {"WIDE_BINDING", binding_of(p.inputs.size() + p.outputs.size())}});
  if (!is_whole) launch.constants.push_back({"LANE_STEPS", doublings(tiling.lanes)});
  add_ending(launch, p);
  return with_codec(codec, std::move(launch));
}

std::string small_batch_refuses(const Problem& p, const DeviceInfo&) {
  std::string reason = refuses_more(p, kSmallBatch);
  return reason.empty() ? wide_rows(p) : reason;
}
Launch small_batch_plain(const Problem& p, const DeviceInfo&) {
  return small_batch(p, kPlain, false);
}

std::string small_batch_subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = wide_subgroups(device);
  return reason.empty() ? small_batch_refuses(p, device) : reason;
}
Launch small_batch_subgroup(const Problem& p, const DeviceInfo& device) {
  return small_batch(p, subgroup_tiling(p, device), true);
}

}  // namespace tokamak
