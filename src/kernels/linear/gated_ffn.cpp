#include "kernels/linear/gated_ffn.h"

#include <bit>

#include "base/packing.h"
#include "graph/fixed_point_sums.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/fused_linear.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

const TensorDesc& second_matrix(const Problem& p) {
  return p.inputs[p.as<GatedFfn>().d()];
}

/// The buffers that every device binds.
constexpr size_t kMinBuffers = DeviceLimits{}.storage_buffers;
size_t buffers_of(const Problem& p, const UnitCodec& first, const UnitCodec& second) {
  return p.inputs.size() + p.outputs.size() + size_t{first.binds_twice} +
         size_t{second.binds_twice};
}

/// The codec of D: in bytes where that of W is, and else such that every device binds the matrices.
UnitCodec second_codec(const Problem& p, const UnitCodec& first) {
  const TensorDesc& d = second_matrix(p);
  if (first.in_bytes && has_wide_units(d)) return byte_units(d);
  UnitCodec codec = unit_codec(d);
  return buffers_of(p, first, codec) > kMinBuffers ? eight_units(d) : codec;
}

}  // namespace

void add_down(Launch& launch, const Problem& p, const UnitCodec& codec, const Tiling& tiling) {
  const auto& op = p.as<GatedFfn>();
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
    add({{"WIDE_BINDING_2",
          binding_of(p.inputs.size() + p.outputs.size() + launch.rebound_inputs.size())}});
    launch.rebound_inputs.push_back(uint32_t(op.d()));
  }
  const uint32_t rows = uint32_t(d.shape[0]);
  add({{"R_BINDING", binding_of(op.d())},
       {"UNIT_2", second.unit},
       {"DOWN_ROWS", rows},
       {"DOWN_COLUMNS", uint32_t(d.shape[1])},
       activation_constant(op.glu.activation),
       {"ADDS_X", op.adds_x ? 1u : 0u},
       {"MAX_ADDEND", float(FixedPointSum::kMaxAddend)}});
  if (second.in_bytes) {
    const bool has_nibbles = weight_format(d.dtype).bits == 4;
    add({{"EIGHTS_2", second.unit / 8},
         {"WORD_STEPS", doublings(second.unit / 4)},
         {"BYTE_STEP", has_nibbles ? 2u : 1u},
         {"OTHER_WORD", has_nibbles ? 1u : 4u}});
  } else {
    add({{"VECTORS_2", second.unit / 4},
         {"GATED_EACH", ceil_div(tiling.group_rows / 2, tiling.threads)}});
  }
  const uint32_t iterations = ceil_div(rows, tiling.threads);
  if (tiling.has_lane_groups()) {
    const uint32_t lane_group = std::bit_ceil(tiling.slice() / second.unit);
    const uint32_t at_once = std::clamp(kMaxGroupLanes / lane_group, 1u, iterations);
    add({{"DOWN_LANES", lane_group},
         {"LANE_GROUP_STEPS", doublings(lane_group)},
         {"HALF_LANE_GROUP", lane_group / 2},
         {"AT_ONCE", at_once},
         {"DOWN_DEPTH", at_once * lane_group},
         {"DOWN_ITERATIONS", ceil_div(iterations, at_once)}});
  } else {
    // Even shares of at most this many.
    constexpr uint32_t kMaxRows = 8;
    add({{"AT_ONCE", ceil_div(iterations, ceil_div(iterations, kMaxRows))}});
  }
  launch.sources.insert(
      launch.sources.end(),
      {kActivationSource, "linear/epilogue/add_fixed_point.wgsl",
       second.in_bytes ? "linear/epilogue/gated_bytes.wgsl" : "linear/epilogue/gated_floats.wgsl",
       tiling.has_lane_groups() ? "linear/epilogue/down_lane_groups.wgsl"
                                : "linear/epilogue/down_rows.wgsl",
       "linear/epilogue/finish_down.wgsl"});
}

namespace {

std::string refuses(const Problem& p, const UnitCodec& codec, const Tiling& tiling) {
  const UnitCodec second = second_codec(p, codec);
  const uint32_t columns = uint32_t(second_matrix(p).shape[1]);
  if (columns % second.unit != 0) {
    return fmt::format("{} columns are no multiple of {}", columns, second.unit);
  }
  if (p.cut.first % (2 * second.unit) != 0) {
    return fmt::format("row {} begins no unit of {} columns", p.cut.first, second.unit);
  }
  if (tiling.has_lane_groups() && tiling.slice() / second.unit > kMaxGroupLanes) {
    return fmt::format("takes {} units of a row, these are {}", kMaxGroupLanes,
                       tiling.slice() / second.unit);
  }
  if (tiling.slice() > kMaxSlice) {
    return fmt::format("takes {} columns, these are {}", kMaxSlice, tiling.slice());
  }
  const uint32_t groups = ceil_div(columns, tiling.slice());
  return groups < FixedPointSum::kMaxAddends
             ? ""
             : fmt::format("{} workgroups add to a sum, it takes {}", groups,
                           FixedPointSum::kMaxAddends);
}

/// The problems that no codec takes.
std::string bad_rows(const Problem& p) {
  if (per_token(p)) return "is for one token";
  if (std::string reason = wide_rows(p); !reason.empty()) return reason;
  const Dim columns = second_matrix(p).shape[1];
  return columns % kColumnsAtOnce == 0
             ? ""
             : fmt::format("in = {} is no multiple of {}", columns, kColumnsAtOnce);
}

/// By kThreads lanes, in lane groups of kLanes for a row; kReduction says how rows are added up.
template <UnitCodec (*kCodec)(const TensorDesc&), Reduction kReduction, uint32_t kThreads,
          uint32_t kLanes>
struct Kind {
  static Tiling tiling(const Problem& p, const DeviceInfo& device) {
    const UnitCodec codec = kCodec(p.inputs[1]);
    Tiling kind = {.reduction = kReduction, .threads = kThreads, .lanes = kLanes};
    kind.has_32 = kind.has_lane_groups();  // as shuffles_refuse() asks for
    return gated_ffn_tiling(p, device, codec, kind, second_codec(p, codec).unit);
  }
  static std::string refuses(const Problem& p, const DeviceInfo& device) {
    if (std::string reason = bad_rows(p); !reason.empty()) return reason;
    const UnitCodec codec = kCodec(p.inputs[1]);
    if (std::string reason = small_workgroups(device, kThreads); !reason.empty()) return reason;
    const size_t buffers = buffers_of(p, codec, second_codec(p, codec));
    if (buffers > device.limits.storage_buffers) {
      return fmt::format("binds {} buffers, the device {}", buffers, device.limits.storage_buffers);
    }
    return tokamak::refuses(p, codec, tiling(p, device));
  }
  static Launch launch(const Problem& p, const DeviceInfo& device) {
    return matvec(p, kCodec(p.inputs[1]), tiling(p, device));
  }
};

constexpr uint32_t kSomeLanes = 256;
using Narrow = Kind<byte_units, Reduction::kNarrow, kManyLanes, kNarrowLanes>;
using Bytes = Kind<byte_units, Reduction::kShuffles, kManyLanes, kMinLanes>;
using Floats = Kind<unit_codec, Reduction::kShuffles, kManyLanes, kMinLanes>;
using Subgroups = Kind<unit_codec, Reduction::kSubgroups, kSomeLanes, kMinLanes>;
using Plain = Kind<unit_codec, Reduction::kMemory, kSomeLanes, kMinLanes>;
using Software = Kind<unit_codec, Reduction::kSubgroups, kMinLanes, kMinLanes>;

std::string software_refuses(const Problem& p, const DeviceInfo& device) {
  if (!device.software) return kNotSoftware;
  if (std::string reason = wide_subgroups(device); !reason.empty()) return reason;
  return Software::refuses(p, device);
}

template <typename T>
std::string shuffles_refuse(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = lacks_lanes(device, kMinLanes); !reason.empty()) return reason;
  return T::refuses(p, device);
}

template <typename T>
std::string bytes_refuse(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = no_bytes(p); !reason.empty()) return reason;
  return shuffles_refuse<T>(p, device);
}

std::string narrow_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = bytes_refuse<Narrow>(p, device); !reason.empty()) return reason;
  return busies_wide_lane_groups(p);
}

std::string subgroups_refuse(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = wide_subgroups(device); !reason.empty()) return reason;
  return Subgroups::refuses(p, device);
}

/// Gate, up and what comes of them are rounded.
constexpr double kRounding = 3 * kStepRounding;

constexpr Way kWays[] = {
    {"software", kFeatureSubgroups, software_refuses, Software::launch},
    {"dot4_narrow", kFeatureSubgroups | kFeatureDot4, narrow_refuses, Narrow::launch, kRounding},
    {"dot4_subgroup32", kFeatureSubgroups | kFeatureDot4, bytes_refuse<Bytes>, Bytes::launch,
     kRounding},
    {"subgroup32", kFeatureSubgroups, shuffles_refuse<Floats>, Floats::launch},
    {"subgroup", kFeatureSubgroups, subgroups_refuse, Subgroups::launch},
    {"plain", 0, Plain::refuses, Plain::launch},
};

std::vector<KernelVariant> make_variants() {
  std::vector<KernelVariant> all;
  add_ways<GatedFfn>(all, kWays);
  all.push_back({.name = "gated_ffn.cpu",
                 .op = op_index<GatedFfn>(),
                 .backend = BackendKind::kCpu,
                 .run = gated_ffn_reference});
  return all;
}

}  // namespace

std::span<const KernelVariant> gated_ffn_variants() {
  static const std::vector<KernelVariant> all = make_variants();
  return all;
}

}  // namespace tokamak
