#include "kernels/linear/matvec.h"

#include "graph/fixed_point_sums.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/gated_ffn.h"
#include "kernels/linear/tiling.h"

namespace tokamak {
namespace {

/// The units that a lane makes of a chunk of x': vectors, or pairs of them where they become bytes.
uint32_t made_each(const UnitCodec& codec, const Tiling& tiling) {
  const uint32_t vectors = tiling.rounds * tiling.lanes * codec.unit / 4;
  return ceil_div(vectors / (codec.in_bytes ? 2 : 1), tiling.threads);
}

/// Texts and constants of what is after the product; `adds_sums`: a row of fixed-point sums.
void add_epilogue(Launch& launch, const Problem& p, const Tiling& tiling, const FusedLinear* fused,
                  bool adds_sums) {
  const Epilogue epilogue = fused == nullptr ? Epilogue::kNone : fused->epilogue;
  const auto add = [&](std::initializer_list<Constant> constants) {
    launch.constants.insert(launch.constants.end(), constants);
  };
  if (epilogue == Epilogue::kArgmax) {
    add({{"SOFTCAP", fused->softcap}});
    launch.sources.insert(
        launch.sources.end(),
        {fused->bias ? "linear/epilogue/bias.wgsl" : "linear/epilogue/no_bias.wgsl",
         "attention/softcap.wgsl", "sampling/best.wgsl",
         tiling.reduction == Reduction::kMemory ? "sampling/best_memory.wgsl"
                                                : "sampling/best_subgroup.wgsl",
         "linear/epilogue/finish_argmax.wgsl"});
    add({{"BLOCK_ROWS", kArgmaxBlock}, {"BEST_LANES", std::min(kArgmaxBlock, tiling.threads)}});
    return;
  }
  add_ending(launch, p);
  if (epilogue == Epilogue::kAdd) {
    add({{"R_BINDING", binding_of(fused->r())},
         {"PAIRS", ceil_div(tiling.group_rows / 2, tiling.threads)}});
    launch.sources.push_back(adds_sums ? "linear/epilogue/added_sums.wgsl"
                                       : "linear/epilogue/added_floats.wgsl");
    launch.sources.push_back("linear/epilogue/finish_sums.wgsl");
  } else {
    launch.sources.push_back("linear/epilogue/finish_rows.wgsl");
  }
}

/// Texts and constants of what is before and after the product.
void add_fused(Launch& launch, const Problem& p, const UnitCodec& codec, const Tiling& tiling) {
  const auto* fused = fused_part(*p.op);
  const Prologue prologue = fused == nullptr ? Prologue::kNone : fused->prologue;
  const Epilogue epilogue = fused == nullptr ? Epilogue::kNone : fused->epilogue;
  const auto add = [&](std::initializer_list<Constant> constants) {
    launch.constants.insert(launch.constants.end(), constants);
  };
  if (prologue == Prologue::kMergeSplits) {
    const uint32_t columns = uint32_t(p.inputs[0].shape[1]);
    // A number that registers have room for: floats have more workgroups at once.
    const uint32_t most = codec.in_bytes ? 16 : 8;
    const uint32_t prefetched = made_each(codec, tiling) == 1 ? most : 4;
    add({{"SPLITS", fused->splits},
         {"PREFETCHED", std::min(fused->splits, prefetched)},
         {"HEADS", (columns / fused->splits - in_size(p)) / 2}});
  } else if (prologue != Prologue::kNone) {
    add({{"W_BINDING", binding_of(fused->w())}, {"EPS", fused->eps}});
  }
  if (prologue == Prologue::kHeadNorm) {
    const uint32_t head = uint32_t(p.inputs[fused->w()].shape[0]);
    add({{"HEAD", head}, {"HEAD_PARTIALS", power_of_two(256 / (in_size(p) / head), 1, 8)}});
  }
  if (prologue == Prologue::kLayerNorm) {
    const bool has_bias = uint32_t(p.inputs[fused->w()].shape[0]) > in_size(p);
    add({{"HAS_NORM_BIAS", has_bias ? 1u : 0u},
         {"NORM_PARTS", power_of_two(in_size(p) / 16, 1, std::min(32u, tiling.threads))}});
  }
  if (fused != nullptr && fused->adds()) {
    add({{"A_BINDING", binding_of(fused->a())}});
    if (fused->scaled) add({{"K_BINDING", binding_of(fused->k())}});
    launch.sources.push_back(fused->scaled ? "linear/prologue/sum_factor.wgsl"
                                           : "linear/prologue/no_sum_factor.wgsl");
    launch.sources.push_back("linear/prologue/sandwich.wgsl");
  } else if (fused != nullptr && fused->gated) {
    add({{"G_BINDING", binding_of(fused->g())}, {"FIRST", fused->first}});
    add({activation_constant(fused->activation)});
    launch.sources.push_back(kActivationSource);
    launch.sources.push_back("linear/prologue/gate.wgsl");
  } else if (prologue != Prologue::kNorm && prologue != Prologue::kLayerNorm) {
    launch.sources.push_back("linear/prologue/no_gate.wgsl");
  }
  launch.sources.push_back(
      fmt::format("linear/prologue/{}.wgsl", kPrologueNames[size_t(prologue)]));
  const auto are_sums = [&](size_t operand) { return p.inputs[operand].dtype == DType::kI32; };
  launch.sources.push_back(are_sums(0) ? "linear/prologue/x_sums.wgsl"
                                       : "linear/prologue/x_floats.wgsl");
  const bool adds_sums = epilogue == Epilogue::kAdd && are_sums(fused->r());
  const bool reads_sums = are_sums(0) || adds_sums,
             is_down = std::holds_alternative<GatedFfn>(*p.op);
  if (reads_sums || is_down) {
    add({{"HIGH_STEP", float(FixedPointSum::kHigh)}, {"LOW_STEP", float(FixedPointSum::kLow)}});
  }
  if (reads_sums) {
    add({{"MAX_HIGH", uint32_t(FixedPointSum::kMaxHigh)}});
    launch.sources.push_back("linear/fixed_point_sums.wgsl");
  }
  if (is_down) {
    add_down(launch, p, codec, tiling);
    return;
  }
  add_epilogue(launch, p, tiling, fused, adds_sums);
}

/// Iterations of products of bytes that are unrolled, so that a second chunk's x' can be made
/// beside the products of the first. With four a token takes up to a third longer on an H200, and
/// in floats a single iteration without its loop 4 to 6 % (docs/history/performance.md).
constexpr uint32_t kUnrolledIterations = 2;

bool reduces_four(const Problem& p, const UnitCodec& codec, const Tiling& tiling) {
  const auto* fused = fused_part(*p.op);
  return fused != nullptr && fused->epilogue == Epilogue::kGlu && tiling.can_reduce_four(codec);
}

}  // namespace

void add_product(Launch& launch, const Problem& p, const UnitCodec& codec, const Tiling& tiling,
                 uint32_t columns, bool reduces_four) {
  const auto add = [&](const char* source) { launch.sources.push_back(source); };
  add(codec.in_bytes        ? "linear/staging/bytes.wgsl"
      : tiling.in_registers ? "linear/staging/registers.wgsl"
                            : "linear/staging/floats.wgsl");
  add("linear/matvec.wgsl");
  if (codec.in_bytes) add("linear/staging/eights.wgsl");
  if (tiling.reduction == Reduction::kMemory) {
    add("wgsl/entry.wgsl");
    add("linear/reduction/memory.wgsl");
  } else {
    const bool shuffles = tiling.reduction == Reduction::kShuffles;
    add("wgsl/entry_subgroup.wgsl");
    add(shuffles || tiling.has_32 ? "linear/reduction/all_shuffle.wgsl"
                                  : "linear/reduction/all_subgroup.wgsl");
    add(shuffles                                 ? "linear/reduction/shuffle.wgsl"
        : tiling.reduction == Reduction::kNarrow ? "linear/reduction/narrow.wgsl"
                                                 : "linear/reduction/subgroup.wgsl");
  }
  add(reduces_four ? "linear/reduction/four.wgsl" : "linear/reduction/each.wgsl");
  const uint32_t vectors = codec.unit / 4;
  const uint32_t iterations = tiling.repeats * (tiling.group_rows / tiling.iteration_rows()) *
                              ceil_div(columns / codec.unit, tiling.rounds * tiling.lanes);
  const uint32_t each = made_each(codec, tiling);
  launch.constants.insert(launch.constants.end(),
                          {{"THREADS", tiling.threads},
                           {"IN", columns},
                           {"UNIT", codec.unit},
                           {"VECTORS", vectors},
                           {"LANES", tiling.lanes},
                           {"BLOCK", tiling.block},
                           {"ROUNDS", tiling.rounds},
                           {"AHEAD", tiling.ahead ? 1u : 0u},
                           {"PARTS", each * (codec.in_bytes ? 2 : 1)},
                           {"GROUP_ROWS", tiling.group_rows},
                           {"REPEATS", tiling.repeats},
                           {"ITERATIONS", iterations},
                           {"UNROLLED_ITERATIONS", codec.in_bytes ? kUnrolledIterations : 0}});
  if (tiling.reduction == Reduction::kNarrow) {
    launch.constants.push_back({"LANE_STEPS", doublings(tiling.lanes)});
  }
  if (codec.in_bytes) {
    launch.constants.push_back({"EIGHTS", codec.unit / 8});
    launch.constants.push_back({"EIGHT_STEPS", doublings(codec.unit / 8)});
    launch.constants.push_back({"EACH", each});
  }
  if (codec.binds_twice) {
    launch.rebound_inputs = {1};
    launch.constants.push_back({"WIDE_BINDING", binding_of(p.inputs.size() + p.outputs.size())});
  }
}

Launch matvec(const Problem& p, UnitCodec codec, const Tiling& tiling) {
  Launch launch{.constants = {{"ROWS", row_count(p)}, {"FIRST_ROW", p.cut.first}},
                .sources = {"linear/rows.wgsl"},
                .grid = {}};
  add_product(launch, p, codec, tiling, in_size(p), reduces_four(p, codec, tiling));
  add_groups(launch, ceil_div(row_count(p), tiling.repeats * tiling.group_rows));
  add_fused(launch, p, codec, tiling);
  return with_codec(std::move(codec), std::move(launch));
}

std::string no_bytes(const Problem& p) {
  const TensorDesc& w = p.inputs[1];
  return has_wide_units(w)
             ? ""
             : fmt::format("is for rows of whole units of 4 or 8 bits, not {}", type_text(w));
}

std::string busies_wide_lane_groups(const Problem& p) {
  const uint32_t units = in_size(p) / byte_units(p.inputs[1]).unit;
  const uint32_t lanes = round_up(units, kMinLanes);
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
  if (fused != nullptr && fused->prologue == Prologue::kHeadNorm) {
    const Dim head = p.inputs[fused->w()].shape[0], heads = Dim{in_size(p)} / head;
    if (head % 4 != 0) return fmt::format("heads of {} columns are no multiple of 4", head);
    if (heads > FusedLinear::kMaxHeads) {
      return fmt::format("{} heads exceed {}", heads, FusedLinear::kMaxHeads);
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
  if (std::string reason = lacks_lanes(device, kMinLanes); !reason.empty()) return reason;
  return wide_for_argmax(p, device);
}

/// The reason not to use shuffles: they make products of floats faster, as measured on an H200
/// (docs/history/performance.md), by 2 % after a sandwich and 0.5 % where few rows of many columns
/// follow a norm; others get 1 to 5 % slower.
std::string slower_by_shuffles(const Problem& p) {
  const auto& op = p.as<FusedLinear>();
  const bool few_long_rows = op.prologue == Prologue::kNorm && in_size(p) >= 2048 &&
                             row_count(p) <= kRowsPerBlock && !takes_argmax(p);
  return op.adds() || few_long_rows ? "" : "is for sums or a norm with few long rows";
}

using Refuses = std::string (*)(const Problem&, const DeviceInfo&);

template <std::string (*kFirst)(const Problem&), Refuses kThen>
std::string either(const Problem& p, const DeviceInfo& device) {
  std::string reason = kFirst(p);
  return reason.empty() ? kThen(p, device) : reason;
}

template <UnitCodec (*kCodec)(const TensorDesc&), Reduction kReduction>
Launch launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = kCodec(p.inputs[1]);
  return matvec(p, codec, matvec_tiling(p, device, codec, kReduction));
}

std::string many_lanes_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = either<no_bytes, shuffle_refuses>(p, device); !reason.empty()) {
    return reason;
  }
  if (std::string reason = small_workgroups(device, kMaxLanes); !reason.empty()) return reason;
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
  return matvec(p, codec, many_lanes_tiling(p, device, codec));
}

/// Rows that a product has at most where each workgroup loads x' for a few of them.
constexpr uint32_t kRegisterRows = 4096;

std::string register_refuses(const Problem& p) {
  if (!has_plain_x(p)) return "is for x' without a norm or splits";
  if (takes_argmax(p) || row_count(p) > kRegisterRows) return "is for few rows";
  const uint32_t columns = in_size(p);
  return columns > kFloatColumns && columns <= kRegisterColumns
             ? ""
             : fmt::format("is for {} to {} columns, not {}", kFloatColumns + 8, kRegisterColumns,
                           columns);
}
template <Reduction kReduction>
Launch register_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = unit_codec(p.inputs[1]);
  return matvec(p, codec, register_tiling(p, device, codec, kReduction));
}

/// f16 has a kernel of its own, and bytes have even_bytes_tiling().
std::string even_refuses(const Problem& p, const DeviceInfo& device, Reduction reduction) {
  const DType dtype = p.inputs[1].dtype;
  if (dtype != DType::kF32 && dtype != DType::kBF16) return "is for f32 and bf16";
  const auto even = even_tiling(p, device, unit_codec(p.inputs[1]), reduction);
  if (takes_argmax(p) || !even) return "is for one to two workgroups a multiprocessor";
  return small_workgroups(device, even->threads);
}
std::string even_subgroup32_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = either<slower_by_shuffles, shuffle_refuses>(p, device);
  return reason.empty() ? even_refuses(p, device, Reduction::kShuffles) : reason;
}
std::string even_subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = subgroup_refuses(p, device);
  return reason.empty() ? even_refuses(p, device, Reduction::kSubgroups) : reason;
}
template <Reduction kReduction>
Launch even_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = unit_codec(p.inputs[1]);
  return matvec(p, codec, even_tiling(p, device, codec, kReduction).value());
}

/// Queries, keys and values of wide models in bytes: Phi-3-mini and Llama-3.1-8B gain 1 to 2 % of a
/// token, products of 2048 columns and what has several iterations lose as much
/// (docs/history/performance.md).
std::string even_bytes_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = either<no_bytes, shuffle_refuses>(p, device); !reason.empty()) {
    return reason;
  }
  const auto& op = p.as<FusedLinear>();
  if (op.prologue != Prologue::kNorm || op.epilogue != Epilogue::kNone) {
    return "is for a norm in front and nothing after it";
  }
  const uint32_t columns = in_size(p);
  if (columns < 3072 || columns > kByteColumns) {
    return fmt::format("is for 3072 to {} columns, not {}", kByteColumns, columns);
  }
  constexpr uint32_t kMaxUnits = 9;  // more would not be in registers
  const Tiling even = even_bytes_tiling(p, device, byte_units(p.inputs[1]));
  if (even.rounds * even.block > kMaxUnits) {
    return fmt::format("takes {} units a lane, these are {}", kMaxUnits, even.rounds * even.block);
  }
  return small_workgroups(device, even.threads);
}
Launch even_bytes_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = byte_units(p.inputs[1]);
  return matvec(p, codec, even_bytes_tiling(p, device, codec));
}

std::string narrow_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = either<no_bytes, refuses>(p, device); !reason.empty()) return reason;
  if (std::string reason = lacks_lanes(device, kNarrowLanes); !reason.empty()) return reason;
  if (std::string reason = wide_for_argmax(p, device); !reason.empty()) return reason;
  if (std::string reason = busies_wide_lane_groups(p); !reason.empty()) return reason;
  return row_count(p) < kManyRows ? "is for many rows" : "";
}
Launch narrow_launch(const Problem& p, const DeviceInfo& device) {
  const UnitCodec codec = byte_units(p.inputs[1]);
  return matvec(p, codec, narrow_tiling(p, device, codec));
}

std::string software_refuses(const Problem& p, const DeviceInfo& device) {
  if (!device.software) return kNotSoftware;
  if (in_size(p) > kSoftwareColumns) {
    return fmt::format("x' of {} columns is more than the {} kept at once", in_size(p),
                       kSoftwareColumns);
  }
  return subgroup_refuses(p, device);
}
Launch software_launch(const Problem& p, const DeviceInfo&) {
  const UnitCodec codec = unit_codec(p.inputs[1]);
  return matvec(p, codec, software_tiling(p, codec));
}

constexpr Way kWays[] = {
    {"matvec_software", kFeatureSubgroups, software_refuses, software_launch},
    {"matvec_dot4_narrow", kFeatureSubgroups | kFeatureDot4, narrow_refuses, narrow_launch,
     kStepRounding},
    {"matvec_dot4_many_lanes", kFeatureSubgroups | kFeatureDot4, many_lanes_refuses,
     many_lanes_launch, kStepRounding},
    {"matvec_dot4_even", kFeatureSubgroups | kFeatureDot4, even_bytes_refuses, even_bytes_launch,
     kStepRounding, true},
    {"matvec_dot4_subgroup32", kFeatureSubgroups | kFeatureDot4, either<no_bytes, shuffle_refuses>,
     launch<byte_units, Reduction::kShuffles>, kStepRounding},
    {"matvec_dot4_subgroup", kFeatureSubgroups | kFeatureDot4, either<no_bytes, subgroup_refuses>,
     launch<byte_units, Reduction::kSubgroups>, kStepRounding},
    {"matvec_registers_subgroup32", kFeatureSubgroups, either<register_refuses, shuffle_refuses>,
     register_launch<Reduction::kShuffles>},
    {"matvec_registers_subgroup", kFeatureSubgroups, either<register_refuses, subgroup_refuses>,
     register_launch<Reduction::kSubgroups>},
    {"matvec_even_subgroup32", kFeatureSubgroups, even_subgroup32_refuses,
     even_launch<Reduction::kShuffles>, 0, true},
    {"matvec_even_subgroup", kFeatureSubgroups, even_subgroup_refuses,
     even_launch<Reduction::kSubgroups>, 0, true},
    {"matvec_f16_subgroup", kFeatureF16 | kFeatureSubgroups, either<is_f16, subgroup_refuses>,
     launch<native_f16_units, Reduction::kSubgroups>},
    {"matvec_subgroup32", kFeatureSubgroups, either<slower_by_shuffles, shuffle_refuses>,
     launch<unit_codec, Reduction::kShuffles>, 0, true},
    {"matvec_subgroup", kFeatureSubgroups, subgroup_refuses,
     launch<unit_codec, Reduction::kSubgroups>},
    {"matvec", 0, refuses, launch<unit_codec, Reduction::kMemory>},
};

}  // namespace

std::span<const Way> matvec_ways() {
  return kWays;
}

}  // namespace tokamak
