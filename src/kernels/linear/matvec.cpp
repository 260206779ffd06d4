#include "kernels/linear/matvec.h"

#include "graph/exact_sums.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/deal.h"
#include "kernels/linear/down.h"

namespace tokamak {
namespace {

/// What a lane makes of a chunk of x': vectors, or pairs of them where they become bytes.
uint32_t made_each(const UnitCodec& codec, const Deal& dealt) {
  const uint32_t vectors = dealt.rounds * dealt.lanes * codec.unit / 4;
  return ceil_div(vectors / (codec.in_bytes ? 2 : 1), dealt.threads);
}

/// Texts and constants of what is before and behind the product.
void add_fused(Launch& launch, const Problem& p, const UnitCodec& codec, const Deal& dealt) {
  const auto* fused = fused_part(*p.op);
  const Before before = fused == nullptr ? Before::kNone : fused->before;
  const Behind behind = fused == nullptr ? Behind::kNone : fused->behind;
  const auto add = [&](std::initializer_list<Constant> constants) {
    launch.constants.insert(launch.constants.end(), constants);
  };
  if (before == Before::kMergeSplits) {
    const uint32_t columns = uint32_t(p.inputs[0].shape[1]);
    // As many as there are registers for: floats have more workgroups at once.
    const uint32_t most = codec.in_bytes ? 16 : 8;
    const uint32_t early = made_each(codec, dealt) == 1 ? most : 4;
    add({{"SPLITS", fused->splits},
         {"EARLY", std::min(fused->splits, early)},
         {"HEADS", (columns / fused->splits - in_size(p)) / 2}});
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
    add({activation_constant(fused->activation)});
    launch.sources.push_back(kActivationSource);
    launch.sources.push_back("linear/gate.wgsl");
  } else if (before != Before::kNorm) {
    launch.sources.push_back("linear/no_gate.wgsl");
  }
  launch.sources.push_back(fmt::format("linear/before_{}.wgsl", kBeforeNames[size_t(before)]));
  const auto are_sums = [&](size_t operand) { return p.inputs[operand].dtype == DType::kI32; };
  launch.sources.push_back(are_sums(0) ? "linear/x_sums.wgsl" : "linear/x_floats.wgsl");
  const bool adds_sums = behind == Behind::kAdd && are_sums(fused->r());
  const bool reads_sums = are_sums(0) || adds_sums,
             is_down = std::holds_alternative<GatedDown>(*p.op);
  if (reads_sums || is_down) {
    add({{"HIGH_STEP", float(ExactSum::kHigh)}, {"LOW_STEP", float(ExactSum::kLow)}});
  }
  if (reads_sums) {
    add({{"LARGEST_HIGH", uint32_t(ExactSum::kLargestHigh)}});
    launch.sources.push_back("linear/exact_sums.wgsl");
  }
  if (is_down) {
    add_down(launch, p, codec, dealt);
    return;
  }
  if (behind == Behind::kArgmax) {
    add({{"SOFTCAP", fused->softcap}});
    launch.sources.insert(
        launch.sources.end(),
        {fused->bias ? "linear/bias.wgsl" : "linear/no_bias.wgsl", "attention/softcap.wgsl",
         "choice/best.wgsl",
         dealt.fold == Fold::kMemory ? "choice/best_memory.wgsl" : "choice/best_subgroup.wgsl",
         "linear/finish_argmax.wgsl"});
    add({{"BLOCK_ROWS", kArgmaxBlock}, {"BEST_LANES", std::min(kArgmaxBlock, dealt.threads)}});
    return;
  }
  add_ending(launch, p);
  if (behind == Behind::kAdd) {
    add({{"R_BINDING", binding_of(fused->r())},
         {"PAIRS", ceil_div(dealt.group_rows / 2, dealt.threads)}});
    launch.sources.push_back(adds_sums ? "linear/added_sums.wgsl" : "linear/added_floats.wgsl");
    launch.sources.push_back("linear/finish_sums.wgsl");
  } else {
    launch.sources.push_back("linear/finish_rows.wgsl");
  }
}

/// Turns of products of bytes that are written out, so that a second chunk's x' can be made beside
/// the products of the first. With four a token takes up to a third longer on an H200, and in
/// floats a single turn without its loop 4 to 6 % (docs/performance.md).
constexpr uint32_t kWrittenTurns = 2;

/// Whether four rows of a team are added up together: gate and up of 2048 columns in bytes become
/// faster by it, by 2.5 % of a token on an H200; others up to 2 % slower (docs/performance.md).
bool folds_four(const Problem& p, const UnitCodec& codec, const Deal& dealt) {
  const auto* fused = fused_part(*p.op);
  return fused != nullptr && fused->behind == Behind::kGlu && codec.in_bytes &&
         dealt.fold == Fold::kShuffles && dealt.lanes == kFewestLanes && dealt.block == 4 &&
         dealt.rounds <= 2;
}

}  // namespace

Launch matvec(const Problem& p, UnitCodec codec, const Deal& dealt) {
  Launch launch{.constants = linear_sizes(p, dealt.threads),
                .sources = {codec.in_bytes ? "linear/staged_bytes.wgsl"
                            : dealt.own    ? "linear/staged_own.wgsl"
                                           : "linear/staged_floats.wgsl",
                            "linear/matvec.wgsl"},
                .grid = {}};
  const auto add = [&](const char* source) { launch.sources.push_back(source); };
  if (dealt.fold == Fold::kMemory) {
    add("wgsl/entry.wgsl");
    add("linear/fold.wgsl");
  } else {
    const bool shuffles = dealt.fold == Fold::kShuffles;
    add("wgsl/entry_subgroup.wgsl");
    add(shuffles || dealt.has_32 ? "linear/fold_all_shuffle.wgsl"
                                 : "linear/fold_all_subgroup.wgsl");
    add(shuffles                      ? "linear/fold_shuffle.wgsl"
        : dealt.fold == Fold::kNarrow ? "linear/fold_narrow.wgsl"
                                      : "linear/fold_subgroup.wgsl");
  }
  add(folds_four(p, codec, dealt) ? "linear/fold_four.wgsl" : "linear/fold_each.wgsl");
  add_groups(launch, ceil_div(row_count(p), dealt.repeats * dealt.group_rows));
  const uint32_t vectors = codec.unit / 4;
  const uint32_t turns = dealt.repeats * (dealt.group_rows / dealt.turn_rows()) *
                         ceil_div(in_size(p) / codec.unit, dealt.rounds * dealt.lanes);
  const uint32_t each = made_each(codec, dealt);
  launch.constants.insert(launch.constants.end(),
                          {{"UNIT", codec.unit},
                           {"VECTORS", vectors},
                           {"LANES", dealt.lanes},
                           {"BLOCK", dealt.block},
                           {"ROUNDS", dealt.rounds},
                           {"AHEAD", dealt.ahead ? 1u : 0u},
                           {"PARTS", each * (codec.in_bytes ? 2 : 1)},
                           {"GROUP_ROWS", dealt.group_rows},
                           {"REPEATS", dealt.repeats},
                           {"TURNS", turns},
                           {"WRITTEN_TURNS", codec.in_bytes ? kWrittenTurns : 0}});
  if (dealt.fold == Fold::kNarrow) {
    launch.constants.push_back({"LANE_STEPS", doublings(dealt.lanes)});
  }
  if (codec.in_bytes) {
    launch.constants.push_back({"EIGHTS", codec.unit / 8});
    launch.constants.push_back({"EIGHT_STEPS", doublings(codec.unit / 8)});
    launch.constants.push_back({"EACH", each});
  }
  if (codec.binds_twice) {
    launch.again = {1};
    launch.constants.push_back({"WIDE_BINDING", binding_of(p.inputs.size() + p.outputs.size())});
  }
  add_fused(launch, p, codec, dealt);
  return with_codec(std::move(codec), std::move(launch));
}

std::string no_bytes(const Problem& p) {
  const TensorDesc& w = p.inputs[1];
  return has_wide_units(w)
             ? ""
             : fmt::format("is for rows of whole units of 4 or 8 bits, not {}", type_text(w));
}

std::string busies_wide_teams(const Problem& p) {
  const uint32_t units = in_size(p) / byte_units(p.inputs[1]).unit;
  const uint32_t lanes = round_up(units, kFewestLanes);
  return 4 * units > 3 * lanes ? fmt::format("{} units busy {} lanes", units, lanes) : "";
}

namespace {

std::string refuses(const Problem& p, const DeviceInfo&) {
  if (per_token(p)) return "is for one token";
  if (std::string reason = wide_rows(p); !reason.empty()) return reason;
  if (takes_argmax(p) && p.cut.first % kArgmaxBlock != 0) {
    return fmt::format("row {} begins no block of {}", p.cut.first, kArgmaxBlock);
  }
  const auto* fused = fused_part(*p.op);
  if (fused != nullptr && fused->before == Before::kHeadNorm) {
    const Dim head = p.inputs[fused->w()].shape[0], heads = Dim{in_size(p)} / head;
    if (head % 4 != 0) return fmt::format("heads of {} columns are no multiple of 4", head);
    if (heads > FusedLinear::kMostHeads) {
      return fmt::format("{} heads exceed {}", heads, FusedLinear::kMostHeads);
    }
  }
  return "";
}

std::string subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = wide_subgroups(device);
  return reason.empty() ? refuses(p, device) : reason;
}

/// Why best_subgroup.wgsl, which searches a block by whole subgroups, does not take the device.
std::string wide_for_argmax(const Problem& p, const DeviceInfo& device) {
  return !takes_argmax(p) || device.subgroup_max <= kArgmaxBlock
             ? ""
             : fmt::format("a subgroup may have {} lanes, and an argmax takes {}",
                           device.subgroup_max, kArgmaxBlock);
}

/// Shuffles stay among 32 neighbouring lanes, of which a subgroup may have more.
std::string shuffle_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = refuses(p, device); !reason.empty()) return reason;
  if (std::string reason = few_lanes(device, kFewestLanes); !reason.empty()) return reason;
  return wide_for_argmax(p, device);
}

/// Where shuffles make products of floats faster, as measured on an H200 (docs/performance.md): 2 %
/// behind a sandwich and 0.5 % where few rows of many columns follow a norm; others get 1 to 5 %
/// slower.
std::string slower_by_shuffles(const Problem& p) {
  const auto& op = p.as<FusedLinear>();
  const bool few_long_rows = op.before == Before::kNorm && in_size(p) >= 2048 &&
                             row_count(p) <= kRowsPerBlock && !takes_argmax(p);
  return op.adds() || few_long_rows ? "" : "is for sums or a norm with few long rows";
}

using Refuses = std::string (*)(const Problem&, const DeviceInfo&);

template <std::string (*kFirst)(const Problem&), Refuses kThen>
std::string either(const Problem& p, const DeviceInfo& device) {
  std::string reason = kFirst(p);
  return reason.empty() ? kThen(p, device) : reason;
}

template <UnitCodec (*kCodec)(const TensorDesc&), Fold kFold>
Launch launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = kCodec(p.inputs[1]);
  return matvec(p, codec, deal(p, device, codec, kFold));
}

std::string many_lanes_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = either<no_bytes, shuffle_refuses>(p, device); !reason.empty()) {
    return reason;
  }
  if (std::string reason = small_workgroups(device, kMostLanes); !reason.empty()) return reason;
  if (device.limits.workgroup_bytes < kManyLanesBytes) {
    return fmt::format("a workgroup has {} bytes of memory, it needs {}",
                       device.limits.workgroup_bytes, kManyLanesBytes);
  }
  const uint32_t columns = in_size(p);
  const bool merges = merges_splits(p) && columns > 2048 && columns <= kByteColumns;
  const bool is_long = has_plain_x(p) && !takes_argmax(p) && columns > kByteColumns;
  return merges || is_long ? "" : "is for x' that takes long";
}
Launch many_lanes_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = byte_units(p.inputs[1]);
  return matvec(p, codec, many_lanes_deal(p, device, codec));
}

/// Rows that a product has at most where each workgroup loads x' for a few of them.
constexpr uint32_t kOwnRows = 4096;

std::string own_refuses(const Problem& p) {
  if (!has_plain_x(p)) return "is for x' without a norm or splits";
  if (takes_argmax(p) || row_count(p) > kOwnRows) return "is for few rows";
  const uint32_t columns = in_size(p);
  return columns > kFloatColumns && columns <= kOwnColumns
             ? ""
             : fmt::format("is for {} to {} columns, not {}", kFloatColumns + 8, kOwnColumns,
                           columns);
}
template <Fold kFold>
Launch own_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = unit_codec(p.inputs[1]);
  return matvec(p, codec, own_deal(p, device, codec, kFold));
}

/// f16 has a kernel of its own, and bytes have even_bytes_deal().
std::string even_refuses(const Problem& p, const DeviceInfo& device, Fold fold) {
  const DType dtype = p.inputs[1].dtype;
  if (dtype != DType::kF32 && dtype != DType::kBF16) return "is for f32 and bf16";
  const auto even = even_deal(p, device, unit_codec(p.inputs[1]), fold);
  if (takes_argmax(p) || !even) return "is for one to two workgroups a multiprocessor";
  return small_workgroups(device, even->threads);
}
std::string even_subgroup32_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = either<slower_by_shuffles, shuffle_refuses>(p, device);
  return reason.empty() ? even_refuses(p, device, Fold::kShuffles) : reason;
}
std::string even_subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = subgroup_refuses(p, device);
  return reason.empty() ? even_refuses(p, device, Fold::kSubgroups) : reason;
}
template <Fold kFold>
Launch even_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = unit_codec(p.inputs[1]);
  return matvec(p, codec, even_deal(p, device, codec, kFold).value());
}

/// Queries, keys and values of wide models in bytes: Phi-3-mini and Llama-3.1-8B gain 1 to 2 % of a
/// token, products of 2048 columns and what has several turns lose as much (docs/performance.md).
std::string even_bytes_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = either<no_bytes, shuffle_refuses>(p, device); !reason.empty()) {
    return reason;
  }
  const auto& op = p.as<FusedLinear>();
  if (op.before != Before::kNorm || op.behind != Behind::kNone) {
    return "is for a norm in front and nothing behind";
  }
  const uint32_t columns = in_size(p);
  if (columns < 3072 || columns > kByteColumns) {
    return fmt::format("is for 3072 to {} columns, not {}", kByteColumns, columns);
  }
  constexpr uint32_t kMostUnits = 9;  // more would not be in registers
  const Deal even = even_bytes_deal(p, device, byte_units(p.inputs[1]));
  if (even.rounds * even.block > kMostUnits) {
    return fmt::format("takes {} units a lane, these are {}", kMostUnits, even.rounds * even.block);
  }
  return small_workgroups(device, even.threads);
}
Launch even_bytes_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = byte_units(p.inputs[1]);
  return matvec(p, codec, even_bytes_deal(p, device, codec));
}

std::string narrow_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = either<no_bytes, refuses>(p, device); !reason.empty()) return reason;
  if (std::string reason = few_lanes(device, kNarrowLanes); !reason.empty()) return reason;
  if (std::string reason = wide_for_argmax(p, device); !reason.empty()) return reason;
  if (std::string reason = busies_wide_teams(p); !reason.empty()) return reason;
  return row_count(p) < kManyRows ? "is for many rows" : "";
}
Launch narrow_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = byte_units(p.inputs[1]);
  return matvec(p, codec, narrow_deal(p, device, codec));
}

std::string core_refuses(const Problem& p, const DeviceInfo& device) {
  if (!device.software) return kNoProcessor;
  if (in_size(p) > kCoreColumns) {
    return fmt::format("x' of {} columns is more than the {} kept at once", in_size(p),
                       kCoreColumns);
  }
  return subgroup_refuses(p, device);
}
Launch core_launch(const Problem& p, const DeviceInfo&) {
  const UnitCodec codec = unit_codec(p.inputs[1]);
  return matvec(p, codec, core_deal(p, codec));
}

constexpr Way kWays[] = {
    {"matvec_cores", kFeatureSubgroups, core_refuses, core_launch},
    {"matvec_dot4_narrow", kFeatureSubgroups | kFeatureDot4, narrow_refuses, narrow_launch,
     kStepRounding},
    {"matvec_dot4_many_lanes", kFeatureSubgroups | kFeatureDot4, many_lanes_refuses,
     many_lanes_launch, kStepRounding},
    {"matvec_dot4_even", kFeatureSubgroups | kFeatureDot4, even_bytes_refuses, even_bytes_launch,
     kStepRounding, true},
    {"matvec_dot4_subgroup32", kFeatureSubgroups | kFeatureDot4, either<no_bytes, shuffle_refuses>,
     launch<byte_units, Fold::kShuffles>, kStepRounding},
    {"matvec_dot4_subgroup", kFeatureSubgroups | kFeatureDot4, either<no_bytes, subgroup_refuses>,
     launch<byte_units, Fold::kSubgroups>, kStepRounding},
    {"matvec_own_subgroup32", kFeatureSubgroups, either<own_refuses, shuffle_refuses>,
     own_launch<Fold::kShuffles>},
    {"matvec_own_subgroup", kFeatureSubgroups, either<own_refuses, subgroup_refuses>,
     own_launch<Fold::kSubgroups>},
    {"matvec_even_subgroup32", kFeatureSubgroups, even_subgroup32_refuses,
     even_launch<Fold::kShuffles>, 0, true},
    {"matvec_even_subgroup", kFeatureSubgroups, even_subgroup_refuses,
     even_launch<Fold::kSubgroups>, 0, true},
    {"matvec_f16_subgroup", kFeatureF16 | kFeatureSubgroups, either<is_f16, subgroup_refuses>,
     launch<native_f16_units, Fold::kSubgroups>},
    {"matvec_subgroup32", kFeatureSubgroups, either<slower_by_shuffles, shuffle_refuses>,
     launch<unit_codec, Fold::kShuffles>, 0, true},
    {"matvec_subgroup", kFeatureSubgroups, subgroup_refuses, launch<unit_codec, Fold::kSubgroups>},
    {"matvec", 0, refuses, launch<unit_codec, Fold::kMemory>},
};

}  // namespace

std::span<const Way> matvec_ways() {
  return kWays;
}

}  // namespace tokamak
