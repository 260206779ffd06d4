#include "kernels/linear/down.h"

#include <bit>

#include "base/packing.h"
#include "graph/exact_sums.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/fused_linear.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

const TensorDesc& second_matrix(const Problem& p) {
  return p.inputs[p.as<GatedDown>().d()];
}

/// What every device binds.
constexpr size_t kFewestBuffers = DeviceLimits{}.storage_buffers;
size_t buffers_of(const Problem& p, const UnitCodec& first, const UnitCodec& second) {
  return p.inputs.size() + p.outputs.size() + size_t{first.binds_twice} +
         size_t{second.binds_twice};
}

/// The codec of D: in bytes where that of W is, and else such that every device binds the matrices.
UnitCodec second_codec(const Problem& p, const UnitCodec& first) {
  const TensorDesc& d = second_matrix(p);
  if (first.in_bytes && has_wide_units(d)) return byte_units(d);
  UnitCodec codec = unit_codec(d);
  return buffers_of(p, first, codec) > kFewestBuffers ? eight_units(d) : codec;
}

}  // namespace

void add_down(Launch& launch, const Problem& p, const UnitCodec& codec, const Deal& dealt) {
  const auto& op = p.as<GatedDown>();
  const TensorDesc& d = second_matrix(p);
  const UnitCodec second = second_codec(p, codec);
  const auto add = [&](std::initializer_list<Constant> constants) {
    launch.constants.insert(launch.constants.end(), constants);
  };
  for (const std::string& source : second.sources) {
    launch.sources.push_back(std::string(kSecond) + source);
  }
  for (const Constant& constant : second.constants) {
    launch.constants.push_back({constant.name + "_2", constant.value});
  }
  if (second.binds_twice) {
    add({{"WIDE_BINDING_2", binding_of(p.inputs.size() + p.outputs.size() + launch.again.size())}});
    launch.again.push_back(uint32_t(op.d()));
  }
  const uint32_t rows = uint32_t(d.shape[0]);
  add({{"R_BINDING", binding_of(op.d())},
       {"UNIT_2", second.unit},
       {"DOWN_ROWS", rows},
       {"DOWN_COLUMNS", uint32_t(d.shape[1])},
       activation_constant(op.glu.activation),
       {"ADDS_X", op.adds_x ? 1u : 0u},
       {"LARGEST_ADDEND", float(ExactSum::kLargestAddend)}});
  if (second.in_bytes) {
    const bool has_nibbles = packing(d.dtype).bits == 4;
    add({{"EIGHTS_2", second.unit / 8},
         {"WORD_STEPS", doublings(second.unit / 4)},
         {"BYTE_STEP", has_nibbles ? 2u : 1u},
         {"OTHER_WORD", has_nibbles ? 1u : 4u}});
  } else {
    add({{"VECTORS_2", second.unit / 4},
         {"GATED_EACH", ceil_div(dealt.group_rows / 2, dealt.threads)}});
  }
  const uint32_t turns = ceil_div(rows, dealt.threads);
  if (dealt.has_teams()) {
    const uint32_t team = std::bit_ceil(dealt.slice() / second.unit);
    const uint32_t at_once = std::clamp(kMostTeam / team, 1u, turns);
    add({{"DOWN_TEAM", team},
         {"TEAM_STEPS", doublings(team)},
         {"HALF_TEAM", team / 2},
         {"AT_ONCE", at_once},
         {"DOWN_DEPTH", at_once * team},
         {"DOWN_TURNS", ceil_div(turns, at_once)}});
  } else {
    // Even shares of up to so many.
    constexpr uint32_t kMostRows = 8;
    add({{"AT_ONCE", ceil_div(turns, ceil_div(turns, kMostRows))}});
  }
  launch.sources.insert(launch.sources.end(),
                        {kActivationSource, "linear/add_exactly.wgsl",
                         second.in_bytes ? "linear/gated_bytes.wgsl" : "linear/gated_floats.wgsl",
                         dealt.has_teams() ? "linear/down_teams.wgsl" : "linear/down_rows.wgsl",
                         "linear/finish_down.wgsl"});
}

namespace {

std::string refuses(const Problem& p, const UnitCodec& codec, const Deal& dealt) {
  const UnitCodec second = second_codec(p, codec);
  const uint32_t columns = uint32_t(second_matrix(p).shape[1]);
  if (columns % second.unit != 0) {
    return fmt::format("{} columns are no multiple of {}", columns, second.unit);
  }
  if (p.cut.first % (2 * second.unit) != 0) {
    return fmt::format("row {} begins no unit of {} columns", p.cut.first, second.unit);
  }
  if (dealt.has_teams() && dealt.slice() / second.unit > kMostTeam) {
    return fmt::format("takes {} units of a row, these are {}", kMostTeam,
                       dealt.slice() / second.unit);
  }
  if (dealt.slice() > kMostSlice) {
    return fmt::format("takes {} columns, these are {}", kMostSlice, dealt.slice());
  }
  const uint32_t groups = ceil_div(columns, dealt.slice());
  return groups < ExactSum::kMostAddends ? ""
                                         : fmt::format("{} workgroups add to a sum, it takes {}",
                                                       groups, ExactSum::kMostAddends);
}

/// What no codec takes.
std::string bad_rows(const Problem& p) {
  if (per_token(p)) return "is for one token";
  if (std::string reason = wide_rows(p); !reason.empty()) return reason;
  const Dim columns = second_matrix(p).shape[1];
  return columns % kColumnsAtOnce == 0
             ? ""
             : fmt::format("in = {} is no multiple of {}", columns, kColumnsAtOnce);
}

/// By so many lanes, in teams of so many for a row, rows added up as `fold` says.
template <UnitCodec (*kCodec)(const TensorDesc&), Fold kFold, uint32_t kThreads, uint32_t kLanes>
struct Kind {
  static Deal dealt(const Problem& p, const DeviceInfo& device) {
    const UnitCodec codec = kCodec(p.inputs[1]);
    Deal kind = {.fold = kFold, .threads = kThreads, .lanes = kLanes};
    kind.has_32 = kind.has_teams();  // as shuffles_refuse() asks for
    return down_deal(p, device, codec, kind, second_codec(p, codec).unit);
  }
  static std::string refuses(const Problem& p, const DeviceInfo& device) {
    if (std::string reason = bad_rows(p); !reason.empty()) return reason;
    const UnitCodec codec = kCodec(p.inputs[1]);
    if (std::string reason = small_workgroups(device, kThreads); !reason.empty()) return reason;
    const size_t buffers = buffers_of(p, codec, second_codec(p, codec));
    if (buffers > device.limits.storage_buffers) {
      return fmt::format("binds {} buffers, the device {}", buffers, device.limits.storage_buffers);
    }
    return tokamak::refuses(p, codec, dealt(p, device));
  }
  static Launch launch(const Problem& p, const DeviceInfo& device) {
    return matvec(p, kCodec(p.inputs[1]), dealt(p, device));
  }
};

constexpr uint32_t kSomeLanes = 256;
using Narrow = Kind<byte_units, Fold::kNarrow, kManyLanes, kNarrowLanes>;
using Bytes = Kind<byte_units, Fold::kShuffles, kManyLanes, kFewestLanes>;
using Floats = Kind<unit_codec, Fold::kShuffles, kManyLanes, kFewestLanes>;
using Subgroups = Kind<unit_codec, Fold::kSubgroups, kSomeLanes, kFewestLanes>;
using Plain = Kind<unit_codec, Fold::kMemory, kSomeLanes, kFewestLanes>;
using Cores = Kind<unit_codec, Fold::kSubgroups, kFewestLanes, kFewestLanes>;

std::string cores_refuse(const Problem& p, const DeviceInfo& device) {
  if (!device.software) return kNoProcessor;
  if (std::string reason = wide_subgroups(device); !reason.empty()) return reason;
  return Cores::refuses(p, device);
}

template <typename T>
std::string shuffles_refuse(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = few_lanes(device, kFewestLanes); !reason.empty()) return reason;
  return T::refuses(p, device);
}

template <typename T>
std::string bytes_refuse(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = no_bytes(p); !reason.empty()) return reason;
  return shuffles_refuse<T>(p, device);
}

std::string narrow_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = bytes_refuse<Narrow>(p, device); !reason.empty()) return reason;
  return busies_wide_teams(p);
}

std::string subgroups_refuse(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = wide_subgroups(device); !reason.empty()) return reason;
  return Subgroups::refuses(p, device);
}

/// Gate, up and what comes of them are rounded.
constexpr double kRounding = 3 * kStepRounding;

constexpr Way kWays[] = {
    {"cores", kFeatureSubgroups, cores_refuse, Cores::launch},
    {"dot4_narrow", kFeatureSubgroups | kFeatureDot4, narrow_refuses, Narrow::launch, kRounding},
    {"dot4_subgroup32", kFeatureSubgroups | kFeatureDot4, bytes_refuse<Bytes>, Bytes::launch,
     kRounding},
    {"subgroup32", kFeatureSubgroups, shuffles_refuse<Floats>, Floats::launch},
    {"subgroup", kFeatureSubgroups, subgroups_refuse, Subgroups::launch},
    {"plain", 0, Plain::refuses, Plain::launch},
};

std::vector<KernelVariant> make_variants() {
  std::vector<KernelVariant> all;
  add_ways<GatedDown>(all, kWays);
  all.push_back({.name = "gated_down.cpu",
                 .op = op_index<GatedDown>(),
                 .backend = BackendKind::kCpu,
                 .reference = gated_down_reference});
  return all;
}

}  // namespace

std::span<const KernelVariant> gated_down_variants() {
  static const std::vector<KernelVariant> all = make_variants();
  return all;
}

}  // namespace tokamak
