#include "kernels/linear/matvec.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

/// How a product is dealt to lanes: `threads` of them take a row, `block` rows at a time.
struct Deal {
  uint32_t threads = 64;
  uint32_t block = 2;
  uint32_t group_rows = 4;
};

/// As measured on an H200, and within 5 % of the best there for every shape of the models in
/// docs/performance.md: lanes for one or two units each, about four loads under way in a lane, and
/// enough workgroups to fill the device, where the matrix has the rows for it.
Deal deal(const Problem& p, uint32_t unit, bool subgroups) {
  const auto* fused = std::get_if<FusedLinear>(p.op);
  const bool is_argmax = fused != nullptr && fused->behind == Behind::kArgmax;
  const uint32_t units = in_size(p) / unit;
  Deal deal;
  // The sums of a workgroup have a number for each row and lane, or, with subgroups, for each row
  // and four lanes. With staged units (9 KiB) and shares of splits (2 KiB) they stay below 16 KiB.
  if (is_argmax) {
    // So many rows that what matters is how many numbers a lane adds up before it meets the others.
    deal.threads = power_of_two(units / 4, 32, subgroups ? 128 : 32);
    deal.group_rows = kArgmaxBlock;
    deal.block = 2;
    return deal;
  }
  deal.threads = power_of_two(units, 32, !subgroups ? 64 : units > 256 ? 256 : 128);
  const uint32_t rounds = ceil_div(units, deal.threads);
  deal.group_rows = power_of_two(row_count(p) / 512, 2, 16);
  deal.block = std::min(power_of_two(4 / std::min(rounds, 4u), 1, 4), deal.group_rows);
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
  Launch launch{.constants = linear_sizes(p, dealt.threads),
                .sources = {subgroups ? "wgsl/entry_subgroup.wgsl" : "wgsl/entry.wgsl",
                            subgroups ? "linear/fold_subgroup.wgsl" : "linear/fold.wgsl",
                            codec.unit > 8 ? "linear/deal_staged.wgsl" : "linear/deal_vectors.wgsl",
                            "linear/matvec.wgsl"},
                .grid = {.x = {grid_x}, .y = {ceil_div(groups, grid_x)}}};
  const uint32_t rounds = ceil_div(in_size(p) / codec.unit, dealt.threads);
  launch.constants.insert(launch.constants.end(), {{"GRID_X", grid_x},
                                                   {"UNIT", codec.unit},
                                                   {"VECTORS", codec.unit / 4},
                                                   {"OWN", rounds * codec.unit / 4},
                                                   {"BLOCK", dealt.block},
                                                   {"LOADS", rounds * dealt.block},
                                                   {"GROUP_ROWS", dealt.group_rows}});
  if (codec.unit > 8) {
    constexpr uint32_t kStagedUnits = 64;
    const uint32_t stage = std::min(dealt.threads, kStagedUnits);
    launch.constants.insert(launch.constants.end(),
                            {{"ROUNDS", rounds},
                             {"STAGE", stage},
                             {"STAGES", dealt.threads / stage},
                             {"EACH", stage * codec.unit / 4 / dealt.threads}});
  }
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

Launch matvec_tree(const Problem& p) {
  return matvec(p, unit_codec(p.inputs[1]), false);
}
Launch matvec_subgroup(const Problem& p) {
  return matvec(p, unit_codec(p.inputs[1]), true);
}

std::string matvec_f16_refuses(const Problem& p, const DeviceInfo&) {
  std::string reason = is_f16(p);
  return reason.empty() ? refuses(p) : reason;
}
Launch matvec_f16_subgroup(const Problem& p) {
  return matvec(p, native_f16_units(p.inputs[1]), true);
}

}  // namespace tokamak
