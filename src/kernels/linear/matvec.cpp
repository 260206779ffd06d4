#include "kernels/linear/matvec.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kFewestLanes = 32;

/// How a product is dealt to lanes: see matvec.wgsl. `rounds` are the units of a row that a lane
/// takes at once.
struct Deal {
  uint32_t lanes = kFewestLanes;
  uint32_t block = 1;
  uint32_t rounds = 1;
  uint32_t group_rows = 8;
};

/// As measured on an H200 (docs/performance.md): a row for each subgroup of 32 lanes, some eight
/// loads under way in a lane, and so many rows for a workgroup that there are workgroups enough.
Deal deal(const Problem& p, uint32_t unit, bool subgroups) {
  constexpr uint32_t kLoads = 8;
  // Columns: with the sums of a workgroup they stay below 16 KiB.
  const uint32_t staged = subgroups ? 2048 : 1024;
  const auto* fused = std::get_if<FusedLinear>(p.op);
  const bool is_argmax = fused != nullptr && fused->behind == Behind::kArgmax;
  const uint32_t units = in_size(p) / unit;
  Deal deal;
  deal.lanes = is_argmax ? kFewestLanes : power_of_two(units / kLoads, kFewestLanes, 64);
  deal.block = power_of_two(row_count(p) / 8192, 1, is_argmax ? 2 : 4);
  deal.rounds = std::min({ceil_div(units, deal.lanes), kLoads / deal.block,
                          std::max(1u, staged / (deal.lanes * unit))});
  deal.group_rows = is_argmax ? kArgmaxBlock : kThreads / deal.lanes * deal.block;
  return deal;
}

/// Texts and constants of what is before and behind the product.
void add_fused(Launch& launch, const Problem& p) {
  const auto* fused = std::get_if<FusedLinear>(p.op);
  const Before before = fused == nullptr ? Before::kNone : fused->before;
  const Behind behind = fused == nullptr ? Behind::kNone : fused->behind;
  const auto add = [&](std::initializer_list<Constant> constants) {
    launch.constants.insert(launch.constants.end(), constants);
  };
  if (before == Before::kMergeSplits) {
    const uint32_t columns = uint32_t(p.inputs[0].shape[1]);
    add({{"SPLITS", fused->splits}, {"HEADS", (columns / fused->splits - in_size(p)) / 2}});
  } else if (before != Before::kNone) {
    add({{"W_BINDING", binding_of(fused->w())}, {"EPS", fused->eps}});
  }
  if (before == Before::kHeadNorm) {
    const uint32_t head = uint32_t(p.inputs[fused->w()].shape[0]);
    add({{"HEAD", head}, {"HEAD_SHARES", power_of_two(256 / (in_size(p) / head), 1, 8)}});
  }
  if (fused != nullptr && fused->adds()) {
    add({{"A_BINDING", binding_of(fused->a())}});
    if (fused->scaled) add({{"K_BINDING", binding_of(fused->k())}});
    launch.sources.push_back(fused->scaled ? "linear/sum_factor.wgsl"
                                           : "linear/no_sum_factor.wgsl");
    launch.sources.push_back("linear/sandwich.wgsl");
  } else if (fused != nullptr && fused->gated) {
    add({{"G_BINDING", binding_of(fused->g())}, {"FIRST", fused->first}});
    launch.sources.push_back(activation_source(fused->activation));
    launch.sources.push_back("linear/gate.wgsl");
  } else if (before != Before::kNorm) {
    launch.sources.push_back("linear/no_gate.wgsl");
  }
  launch.sources.push_back(fmt::format("linear/before_{}.wgsl", kBeforeNames[size_t(before)]));
  if (behind == Behind::kArgmax) {
    if (fused->softcap > 0) add({{"SOFTCAP", fused->softcap}});
    launch.sources.insert(
        launch.sources.end(),
        {fused->bias ? "linear/bias.wgsl" : "linear/no_bias.wgsl",
         fused->softcap > 0 ? "attention/softcap.wgsl" : "attention/no_softcap.wgsl",
         "choice/best.wgsl", "linear/finish_argmax.wgsl"});
    return;
  }
  add_ending(launch, p);
  launch.sources.push_back("linear/finish_rows.wgsl");
}

Launch matvec(const Problem& p, UnitCodec codec, bool subgroups) {
  const Deal dealt = deal(p, codec.unit, subgroups);
  const uint32_t groups = ceil_div(row_count(p), dealt.group_rows);
  const uint32_t grid_x = std::min(groups, kRowOfGroups);
  Launch launch{.constants = linear_sizes(p, kThreads),
                .sources = {subgroups ? "wgsl/entry_subgroup.wgsl" : "wgsl/entry.wgsl",
                            subgroups ? "linear/fold_subgroup.wgsl" : "linear/fold.wgsl",
                            "linear/matvec.wgsl"},
                .grid = {.x = {grid_x}, .y = {ceil_div(groups, grid_x)}}};
  const uint32_t vectors = codec.unit / 4;
  launch.constants.insert(launch.constants.end(),
                          {{"GRID_X", grid_x},
                           {"UNIT", codec.unit},
                           {"VECTORS", vectors},
                           {"LANES", dealt.lanes},
                           {"BLOCK", dealt.block},
                           {"ROUNDS", dealt.rounds},
                           {"LOADS", dealt.rounds * dealt.block},
                           {"EACH", ceil_div(dealt.rounds * dealt.lanes * vectors, kThreads)},
                           {"GROUP_ROWS", dealt.group_rows}});
  if (codec.binds_twice) {
    launch.again = {1};
    launch.constants.push_back({"WIDE_BINDING", binding_of(p.inputs.size() + p.outputs.size())});
  }
  add_fused(launch, p);
  return with_codec(std::move(codec), std::move(launch));
}

std::string refuses(const Problem& p) {
  if (per_token(p)) return "is for one token";
  if (std::string reason = wide_rows(p); !reason.empty()) return reason;
  const auto* fused = std::get_if<FusedLinear>(p.op);
  const bool is_argmax = fused != nullptr && fused->behind == Behind::kArgmax;
  return is_argmax && p.cut.first % kArgmaxBlock != 0
             ? fmt::format("row {} begins no block of {}", p.cut.first, kArgmaxBlock)
             : "";
}

}  // namespace

std::string matvec_refuses(const Problem& p, const DeviceInfo&) {
  return refuses(p);
}
std::string matvec_subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  return device.subgroup_max > kFewestLanes
             ? fmt::format("a subgroup may have {} lanes, and a row {}", device.subgroup_max,
                           kFewestLanes)
             : refuses(p);
}

Launch matvec_tree(const Problem& p) {
  return matvec(p, unit_codec(p.inputs[1]), false);
}
Launch matvec_subgroup(const Problem& p) {
  return matvec(p, unit_codec(p.inputs[1]), true);
}

std::string matvec_f16_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = is_f16(p);
  return reason.empty() ? matvec_subgroup_refuses(p, device) : reason;
}
Launch matvec_f16_subgroup(const Problem& p) {
  return matvec(p, native_f16_units(p.inputs[1]), true);
}

}  // namespace tokamak
