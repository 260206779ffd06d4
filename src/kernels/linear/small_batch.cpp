#include "kernels/linear/small_batch.h"

#include "kernels/linear/matvec.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

constexpr uint32_t kLanes = kMinLanes;
constexpr uint32_t kQuads = kSmallBatch / 4;

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
                  "linear/small_batch.wgsl"},
      .grid = {}};
  add_groups(launch, ceil_div(row_count(p), tiling.threads / kLanes * tiling.block));
  launch.constants.insert(launch.constants.end(), {{"LANES", kLanes},
                                                   {"BLOCK", tiling.block},
                                                   {"QUADS", kQuads},
                                                   {"GROUP_ROWS", tiling.sums()}});
  add_ending(launch, p);
  return with_codec(wide_codec(p.inputs[1]), std::move(launch));
}

}  // namespace

std::string small_batch_refuses(const Problem& p, const DeviceInfo&) {
  if (!per_token(p)) return "is for several tokens";
  if (p.max_tokens > kSmallBatch) {
    return fmt::format("is for at most {} tokens, not {}", kSmallBatch, p.max_tokens);
  }
  return wide_rows(p);
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
