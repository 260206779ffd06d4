#include "kernels/linear/matvec.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

bool takes_argmax(const Problem& p) {
  const auto* fused = std::get_if<FusedLinear>(p.op);
  return fused != nullptr && fused->behind == Behind::kArgmax;
}

/// Who adds up what the lanes of a team have: fold*.wgsl.
enum class Fold : uint8_t { kMemory, kSubgroups, kShuffles, kNarrow };

/// How a product is dealt to lanes: see matvec.wgsl. `rounds` are the units of a row that a lane
/// takes at once.
struct Deal {
  Fold fold = Fold::kSubgroups;
  uint32_t threads = 256;
  uint32_t lanes = kFewestLanes;
  uint32_t block = 1;
  uint32_t rounds = 1;
  uint32_t group_rows = 8;
  uint32_t repeats = 1;
  bool ahead = false;  // whether the next turn's weights are loaded before this one's are used

  uint32_t turn_rows() const { return threads / lanes * block; }
};

/// Workgroups that run at once while a lane takes some 64 registers.
constexpr uint32_t kWave = 528;

/// Gives a workgroup so many turns. Totals of so many rows stay in workgroup memory; more come in
/// repeats.
void take_turns(Deal& deal, const Problem& p, uint32_t turns) {
  const uint32_t most_rows = deal.fold == Fold::kMemory ? 32 : 128;
  const uint32_t rows = turns * deal.turn_rows();
  const uint32_t piece = takes_argmax(p) ? kArgmaxBlock : deal.turn_rows();
  deal.group_rows = std::min(ceil_div(rows, piece), std::max(1u, most_rows / piece)) * piece;
  deal.repeats = ceil_div(rows, deal.group_rows);
}

/// How many turns a workgroup takes so that no more than `wave` do all rows. Those that have a
/// second turn take more registers than those of a single one, so that fewer run at once.
uint32_t turns_in_a_wave(const Deal& deal, const Problem& p, uint32_t wave) {
  const uint32_t turns = ceil_div(row_count(p), deal.turn_rows());
  return turns <= kWave ? 1 : ceil_div(turns, wave);
}

/// As measured on an H200 (docs/performance.md): a row for each subgroup of 32 lanes, some eight
/// loads under way in a lane, a row in one chunk where it fits, and so many rows for a workgroup
/// that there are workgroups enough, but not many more, since each makes x' for itself.
Deal deal(const Problem& p, const UnitCodec& codec, Fold fold) {
  // Columns: with the sums of a workgroup they stay below 16 KiB.
  const uint32_t staged = codec.in_bytes ? 4096 : fold == Fold::kMemory ? 1024 : 2048;
  const uint32_t units = in_size(p) / codec.unit, rows = row_count(p);
  const auto* fused = std::get_if<FusedLinear>(p.op);
  const bool adds = fused != nullptr && fused->adds(), is_argmax = takes_argmax(p);
  const bool in_chunks = in_size(p) > staged;
  // Behind a sandwich two rows share an x' that takes long.
  const uint32_t loads = adds && !codec.in_bytes ? 12 : 8;
  const bool merges = fused != nullptr && fused->before == Before::kMergeSplits;
  Deal deal{.fold = fold};
  deal.lanes = is_argmax ? kFewestLanes : power_of_two(units / loads, kFewestLanes, 64);
  const uint32_t whole = ceil_div(units, deal.lanes);
  const uint32_t rows_per_block = codec.in_bytes ? 3072 : adds ? 4096 : 8192;
  deal.block = power_of_two(rows / rows_per_block, 1, is_argmax && !codec.in_bytes ? 2 : 4);
  if (codec.in_bytes && (in_chunks || merges)) deal.block = 2;  // their x' takes longest
  // Rows of a head come in equal parts rather than one by one.
  const bool in_parts = is_argmax && !codec.in_bytes && whole % (loads / deal.block) == 0;
  while (!in_chunks && !in_parts && deal.block > 1 && whole * deal.block > loads) deal.block /= 2;
  deal.rounds = std::min(whole * deal.block <= loads ? whole : loads / deal.block,
                         std::max(1u, staged / (deal.lanes * codec.unit)));
  if (codec.in_bytes || adds) {
    take_turns(deal, p, turns_in_a_wave(deal, p, kWave / 2));
  } else if (is_argmax) {
    take_turns(deal, p, (in_parts ? 1 : 2) * kArgmaxBlock / deal.turn_rows());
  } else {
    // Where x' is cheap, workgroups that begin as others end hide their waits.
    const uint32_t turns = turns_in_a_wave(deal, p, kWave);
    take_turns(deal, p, turns == 2 ? 2 : 1);
  }
  // Bytes have more to compute than to wait for.
  deal.ahead = in_chunks && !codec.in_bytes && !is_argmax;
  return deal;
}

constexpr uint32_t kNarrowLanes = 8;
/// So many that the matrix has workgroups enough, though each takes more of them.
constexpr uint32_t kManyRows = 8192;

/// Of matrices whose rows would leave lanes of a wide team idle.
Deal narrow_deal(const Problem& p, const UnitCodec& codec) {
  Deal deal{.fold = Fold::kNarrow, .lanes = kNarrowLanes};
  deal.rounds = ceil_div(in_size(p) / codec.unit, deal.lanes);
  deal.block = deal.rounds <= 5 ? 2 : 1;
  take_turns(deal, p, turns_in_a_wave(deal, p, kWave / 2));
  return deal;
}

/// Columns whose x' a workgroup of a processor makes and keeps at once.
constexpr uint32_t kCoreColumns = 2048;

/// As measured on two cores (docs/performance.md): few workgroups, since each makes x', of a single
/// team, since lanes take turns on a core.
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

/// Texts and constants of what is before and behind the product.
void add_fused(Launch& launch, const Problem& p, const UnitCodec& codec, const Deal& dealt) {
  const auto* fused = std::get_if<FusedLinear>(p.op);
  const Before before = fused == nullptr ? Before::kNone : fused->before;
  const Behind behind = fused == nullptr ? Behind::kNone : fused->behind;
  const auto add = [&](std::initializer_list<Constant> constants) {
    launch.constants.insert(launch.constants.end(), constants);
  };
  if (before == Before::kMergeSplits) {
    const uint32_t columns = uint32_t(p.inputs[0].shape[1]);
    // So many that two workgroups have registers enough.
    const uint32_t early = in_size(p) <= (codec.in_bytes ? 2048 : 1024) ? 8 : 4;
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
    launch.sources.push_back("linear/finish_sums.wgsl");
  } else {
    launch.sources.push_back("linear/finish_rows.wgsl");
  }
}

/// Turns of products of bytes that are written out, so that a second chunk's x' can be made beside
/// the products of the first. With four a token takes up to a third longer on an H200, and in
/// floats a single turn without its loop 4 to 6 % (docs/performance.md).
constexpr uint32_t kWrittenTurns = 2;

Launch matvec(const Problem& p, UnitCodec codec, const Deal& dealt) {
  Launch launch{
      .constants = linear_sizes(p, dealt.threads),
      .sources = {codec.in_bytes ? "linear/staged_bytes.wgsl" : "linear/staged_floats.wgsl",
                  "linear/matvec.wgsl"},
      .grid = {}};
  const auto add = [&](const char* source) { launch.sources.push_back(source); };
  if (dealt.fold == Fold::kMemory) {
    add("wgsl/entry.wgsl");
    add("linear/fold.wgsl");
  } else {
    const bool shuffles = dealt.fold == Fold::kShuffles;
    add("wgsl/entry_subgroup.wgsl");
    add(shuffles ? "linear/fold_all_shuffle.wgsl" : "linear/fold_all_subgroup.wgsl");
    add(shuffles                      ? "linear/fold_shuffle.wgsl"
        : dealt.fold == Fold::kNarrow ? "linear/fold_narrow.wgsl"
                                      : "linear/fold_subgroup.wgsl");
  }
  add_groups(launch, ceil_div(row_count(p), dealt.repeats * dealt.group_rows));
  const uint32_t vectors = codec.unit / 4;
  const uint32_t chunk = dealt.rounds * dealt.lanes * vectors;
  const uint32_t turns = dealt.repeats * (dealt.group_rows / dealt.turn_rows()) *
                         ceil_div(in_size(p) / codec.unit, dealt.rounds * dealt.lanes);
  // Eight elements that become bytes are made by one lane.
  const uint32_t each = ceil_div(chunk / (codec.in_bytes ? 2 : 1), dealt.threads);
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

/// What head_norm keeps in workgroup memory.
constexpr uint32_t kMostHeads = 256;

std::string refuses(const Problem& p, const DeviceInfo&) {
  if (per_token(p)) return "is for one token";
  if (std::string reason = wide_rows(p); !reason.empty()) return reason;
  if (takes_argmax(p) && p.cut.first % kArgmaxBlock != 0) {
    return fmt::format("row {} begins no block of {}", p.cut.first, kArgmaxBlock);
  }
  const auto* fused = std::get_if<FusedLinear>(p.op);
  if (fused != nullptr && fused->before == Before::kHeadNorm) {
    const Dim head = p.inputs[fused->w()].shape[0], heads = Dim{in_size(p)} / head;
    if (head % 4 != 0) return fmt::format("heads of {} columns are no multiple of 4", head);
    if (heads > Dim{kMostHeads}) return fmt::format("{} heads exceed {}", heads, kMostHeads);
  }
  return "";
}

std::string subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = wide_subgroups(device);
  return reason.empty() ? refuses(p, device) : reason;
}

std::string shuffle_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = subgroup_refuses(p, device);
  return reason.empty() ? few_lanes(device, kFewestLanes) : reason;
}

/// Plain products of floats are 2 to 4 % slower by shuffles, those behind a sandwich 2 % faster, as
/// measured on an H200 (docs/performance.md).
std::string adds_nothing(const Problem& p) {
  const auto* fused = std::get_if<FusedLinear>(p.op);
  return fused != nullptr && fused->adds() ? "" : "is for sums in front of the product";
}

std::string no_bytes(const Problem& p) {
  const TensorDesc& w = p.inputs[1];
  return has_wide_units(w)
             ? ""
             : fmt::format("is for rows of whole units of 4 or 8 bits, not {}", type_text(w));
}

using Refuses = std::string (*)(const Problem&, const DeviceInfo&);

template <std::string (*kFirst)(const Problem&), Refuses kThen>
std::string either(const Problem& p, const DeviceInfo& device) {
  std::string reason = kFirst(p);
  return reason.empty() ? kThen(p, device) : reason;
}

template <UnitCodec (*kCodec)(const TensorDesc&), Fold kFold>
Launch launch(const Problem& p) {
  const UnitCodec codec = kCodec(p.inputs[1]);
  return matvec(p, codec, deal(p, codec, kFold));
}

std::string narrow_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = either<no_bytes, refuses>(p, device); !reason.empty()) return reason;
  if (std::string reason = few_lanes(device, kNarrowLanes); !reason.empty()) return reason;
  const uint32_t units = in_size(p) / byte_units(p.inputs[1]).unit;
  const uint32_t lanes = round_up(units, kFewestLanes);
  if (4 * units > 3 * lanes) return fmt::format("{} units busy {} lanes", units, lanes);
  return row_count(p) < kManyRows ? "is for many rows" : "";
}
Launch narrow_launch(const Problem& p) {
  const UnitCodec codec = byte_units(p.inputs[1]);
  return matvec(p, codec, narrow_deal(p, codec));
}

std::string core_refuses(const Problem& p, const DeviceInfo& device) {
  if (!device.software) return kNoProcessor;
  if (in_size(p) > kCoreColumns) {
    return fmt::format("x' of {} columns is more than the {} kept at once", in_size(p),
                       kCoreColumns);
  }
  return subgroup_refuses(p, device);
}
Launch core_launch(const Problem& p) {
  const UnitCodec codec = unit_codec(p.inputs[1]);
  return matvec(p, codec, core_deal(p, codec));
}

constexpr Way kWays[] = {
    {"matvec_cores", kFeatureSubgroups, core_refuses, core_launch},
    {"matvec_dot4_narrow", kFeatureSubgroups | kFeatureDot4, narrow_refuses, narrow_launch,
     kStepRounding},
    {"matvec_dot4_subgroup32", kFeatureSubgroups | kFeatureDot4, either<no_bytes, shuffle_refuses>,
     launch<byte_units, Fold::kShuffles>, kStepRounding},
    {"matvec_dot4_subgroup", kFeatureSubgroups | kFeatureDot4, either<no_bytes, subgroup_refuses>,
     launch<byte_units, Fold::kSubgroups>, kStepRounding},
    {"matvec_f16_subgroup", kFeatureF16 | kFeatureSubgroups, either<is_f16, subgroup_refuses>,
     launch<native_f16_units, Fold::kSubgroups>},
    {"matvec_subgroup32", kFeatureSubgroups, either<adds_nothing, shuffle_refuses>,
     launch<unit_codec, Fold::kShuffles>, 0, true},
    {"matvec_subgroup", kFeatureSubgroups, subgroup_refuses, launch<unit_codec, Fold::kSubgroups>},
    {"matvec", 0, refuses, launch<unit_codec, Fold::kMemory>},
};

}  // namespace

std::span<const Way> matvec_ways() {
  return kWays;
}

}  // namespace tokamak
