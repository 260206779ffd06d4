#include "kernels/linear/few.h"

#include "kernels/linear/matvec.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

constexpr uint32_t kLanes = kFewestLanes;
constexpr uint32_t kQuads = kFewTokens / 4;

/// How a product is dealt to lanes: see few.wgsl.
struct FewDeal {
  uint32_t threads, block;

  /// To fold.wgsl a row is another one for every token.
  constexpr uint32_t sums() const { return threads / kLanes * block * kFewTokens; }
  /// Of workgroup memory, where a team leaves so many shares of each sum.
  constexpr uint32_t bytes(uint32_t shares) const {
    return 4 * (8 * kFewTokens * kLanes + sums() * shares);
  }
};
// A subgroup leaves one share of a sum, and has at least four lanes. What fold*.wgsl has for sums
// of all lanes is not used, and does not count.
constexpr FewDeal kPlain = {128, 2}, kWidest = {256, 4};
static_assert(kPlain.bytes(kLanes) <= 16 << 10 && kWidest.bytes(kLanes / 4) <= 16 << 10);
// Half a unit of x for four tokens is one lane's to bring.
static_assert(kPlain.threads >= 2 * kLanes * kQuads);

/// x is read once for all rows of a workgroup, of which there must be enough for the device: two
/// for each multiprocessor.
FewDeal subgroup_deal(const Problem& p, const DeviceInfo& device) {
  const uint32_t teams = device.size.groups(2) * (kWidest.threads / kLanes);
  return {kWidest.threads, power_of_two(row_count(p) / teams, 2, kWidest.block)};
}

Launch few(const Problem& p, const FewDeal& deal, bool subgroups) {
  Launch launch{
      .constants = linear_sizes(p, deal.threads),
      .sources = {subgroups ? "wgsl/entry_subgroup.wgsl" : "wgsl/entry.wgsl",
                  subgroups ? "linear/fold_subgroup.wgsl" : "linear/fold.wgsl", "linear/few.wgsl"},
      .grid = {}};
  add_groups(launch, ceil_div(row_count(p), deal.threads / kLanes * deal.block));
  launch.constants.insert(
      launch.constants.end(),
      {{"LANES", kLanes}, {"BLOCK", deal.block}, {"QUADS", kQuads}, {"GROUP_ROWS", deal.sums()}});
  add_ending(launch, p);
  return with_codec(wide_codec(p.inputs[1]), std::move(launch));
}

}  // namespace

std::string few_refuses(const Problem& p, const DeviceInfo&) {
  if (!per_token(p)) return "is for several tokens";
  if (p.max_tokens > kFewTokens) {
    return fmt::format("is for at most {} tokens, not {}", kFewTokens, p.max_tokens);
  }
  return wide_rows(p);
}
Launch few_plain(const Problem& p, const DeviceInfo&) {
  return few(p, kPlain, false);
}

std::string few_subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = wide_subgroups(device);
  return reason.empty() ? few_refuses(p, device) : reason;
}
Launch few_subgroup(const Problem& p, const DeviceInfo& device) {
  return few(p, subgroup_deal(p, device), true);
}

}  // namespace tokamak
