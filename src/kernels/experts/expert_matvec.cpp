#include "kernels/experts/expert_matvec.h"

#include "kernels/experts/expert_sizes.h"
#include "kernels/launch.h"
#include "kernels/linear/tiling.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

/// A product of that many rows and columns for one token, as tilings see it.
Problem plain_product(const Problem& p, uint32_t rows, uint32_t columns) {
  static const Op op = Linear{};
  Problem plain{.op = &op, .inputs = {p.inputs[0], p.inputs[1]}};
  plain.inputs[1].shape = {Dim{rows}, Dim{columns}};
  return plain;
}

/// Columns of which every device has room for x' in bytes.
constexpr uint32_t kWholeColumns = 6144;

/// Takes all of x' at once where rows are longer than a chunk, by shuffles in two rows for a lane
/// group where those busy the multiprocessors, as measured on an H200
/// (docs/history/performance.md).
Tiling tiling_of(const Problem& plain, const DeviceInfo& device, const UnitCodec& codec,
                 Reduction reduction) {
  const uint32_t columns = in_size(plain);
  if (columns <= kByteColumns || columns > kWholeColumns) {
    return matvec_tiling(plain, device, codec, reduction);
  }
  Tiling tiling{.reduction = reduction};
  const uint32_t one_row = tiling.iteration_rows() * device.size.multiprocessors;
  if (reduction == Reduction::kShuffles && row_count(plain) > one_row) tiling.block = 2;
  tiling.rounds = ceil_div(columns / codec.unit, tiling.lanes);
  tiling.group_rows = tiling.iteration_rows();
  // A workgroup of a small device takes several times as many rows with one x'.
  constexpr uint32_t kWave = 4;
  tiling.repeats =
      ceil_div(ceil_div(row_count(plain), tiling.group_rows), kWave * device.size.multiprocessors);
  return tiling;
}

Launch product(const Problem& p, UnitCodec codec, const Tiling& tiling, uint32_t rows,
               uint32_t columns, bool reduces_four) {
  const ExpertProductSizes s = expert_sizes(p);
  Launch launch{.constants = {{"EXPERTS", s.experts},
                              {"FIRST_EXPERT", s.first},
                              {"HELD", s.held},
                              {"ROWS", rows},
                              {"FIRST_ROW", 0u}},
                .sources = {bias_source(p), "linear/epilogue/finish_rows.wgsl"},
                .grid = {.x = {ceil_div(rows, tiling.repeats * tiling.group_rows)}}};
  add_product(launch, p, codec, tiling, columns, reduces_four);
  add_bias(launch, p);
  return with_codec(std::move(codec), std::move(launch));
}

void add(Launch& launch, std::initializer_list<const char*> sources,
         std::initializer_list<Constant> constants) {
  launch.sources.insert(launch.sources.end(), sources.begin(), sources.end());
  launch.constants.insert(launch.constants.end(), constants);
}

// expert_glu and expert_linear: the rows of one slot's expert for a workgroup.

std::string slot_refuses(const Problem& p) {
  if (has_many_tokens(p) && norms_rows(p)) return "norms no rows";
  std::string reason = no_bytes(p);
  return reason.empty() ? shares_experts(p) : reason;
}

template <Reduction kReduction>
Launch slot_launch(const Problem& p, const DeviceInfo& device) {
  const ExpertProductSizes s = expert_sizes(p);
  const auto* glu = std::get_if<ExpertGlu>(p.op);
  const UnitCodec codec = byte_units(p.inputs[1]);
  const Tiling tiling =
      tiling_of(plain_product(p, s.top_k * s.rows, s.in), device, codec, kReduction);
  Launch launch = product(p, codec, tiling, s.rows, s.in, glu && tiling.can_reduce_four(codec));
  launch.grid.y = {s.top_k};
  launch.grid.z = {1, has_many_tokens(p) ? 1u : 0u};
  add(launch, {kActivationSource, gate_source(p), "experts/results.wgsl", "experts/slot_rows.wgsl"},
      {{"OUT", s.out}, {"X_ROWS", s.x_rows}, {"TOP_K", s.top_k}});
  add_gate(launch, p);
  if (norms_rows(p)) {
    add(launch, {"linear/prologue/norm.wgsl"}, {{"W_BINDING", binding_of(3)}, {"EPS", glu->eps}});
  } else {
    add(launch, {"linear/prologue/no_gate.wgsl", "linear/prologue/none.wgsl"}, {});
  }
  return launch;
}

// expert_mix: rows of all slots' experts for a workgroup.

std::string mix_refuses(const Problem& p) {
  return has_many_tokens(p) ? "is for one token" : no_bytes(p);
}

template <Reduction kReduction>
Launch mix_launch(const Problem& p, const DeviceInfo& device) {
  const ExpertProductSizes s = expert_sizes(p);
  const uint32_t columns = s.top_k * s.in;
  const UnitCodec codec = byte_units(p.inputs[1]);
  const Tiling tiling = tiling_of(plain_product(p, s.out, columns), device, codec, kReduction);
  Launch launch = product(p, codec, tiling, s.out, columns, false);
  add(launch,
      {"experts/mix_rows.wgsl", "linear/prologue/no_gate.wgsl", "linear/prologue/none.wgsl"},
      {{"SLOT_IN", s.in}, {"OUT", s.out}});
  add_mix_results(launch, p);
  return launch;
}

template <std::string (*kRefuses)(const Problem&)>
std::string shuffle_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = kRefuses(p);
  return reason.empty() ? lacks_lanes(device, kMinLanes) : reason;
}
template <std::string (*kRefuses)(const Problem&)>
std::string subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = kRefuses(p);
  return reason.empty() ? wide_subgroups(device) : reason;
}

constexpr Features kNeeds = kFeatureSubgroups | kFeatureDot4;

constexpr KernelVariant kVariants[] = {
    {.name = "expert_glu.wgsl.dot4_subgroup32",
     .op = op_index<ExpertGlu>(),
     .needs = kNeeds,
     .refuses = shuffle_refuses<slot_refuses>,
     .launch = slot_launch<Reduction::kShuffles>,
     .rounding = 2 * kStepRounding},
    {.name = "expert_glu.wgsl.dot4_subgroup",
     .op = op_index<ExpertGlu>(),
     .needs = kNeeds,
     .refuses = subgroup_refuses<slot_refuses>,
     .launch = slot_launch<Reduction::kSubgroups>,
     .rounding = 2 * kStepRounding},
    {.name = "expert_linear.wgsl.dot4_subgroup32",
     .op = op_index<ExpertLinear>(),
     .needs = kNeeds,
     .refuses = shuffle_refuses<slot_refuses>,
     .launch = slot_launch<Reduction::kShuffles>,
     .rounding = kStepRounding},
    {.name = "expert_linear.wgsl.dot4_subgroup",
     .op = op_index<ExpertLinear>(),
     .needs = kNeeds,
     .refuses = subgroup_refuses<slot_refuses>,
     .launch = slot_launch<Reduction::kSubgroups>,
     .rounding = kStepRounding},
    {.name = "expert_mix.wgsl.dot4_subgroup32",
     .op = op_index<ExpertMix>(),
     .needs = kNeeds,
     .refuses = shuffle_refuses<mix_refuses>,
     .launch = mix_launch<Reduction::kShuffles>,
     .rounding = kStepRounding},
    {.name = "expert_mix.wgsl.dot4_subgroup",
     .op = op_index<ExpertMix>(),
     .needs = kNeeds,
     .refuses = subgroup_refuses<mix_refuses>,
     .launch = mix_launch<Reduction::kSubgroups>,
     .rounding = kStepRounding},
};

}  // namespace

std::string shares_experts(const Problem& p) {
  const ExpertProductSizes s = expert_sizes(p);
  return has_many_tokens(p) && 2 * p.max_tokens * s.top_k > s.experts
             ? fmt::format("is for at most {} tokens", std::max(1u, s.experts / (2 * s.top_k)))
             : "";
}

std::span<const KernelVariant> expert_matvec_variants() {
  return kVariants;
}

}  // namespace tokamak
