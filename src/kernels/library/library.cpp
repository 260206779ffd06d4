#include "kernels/library/library.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/launch.h"
#include "kernels/linear/product.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

constexpr uint32_t kConversionThreads = 256;
/// The workgroups that convert weights: of more, lanes convert eights one after the other.
constexpr uint32_t kMaxConversionGroups = 4096;

bool are_rows_of_step(const TensorDesc& x) {
  return x.shape[0] < 0;
}

std::vector<float> numbers(const CpuTensor& matrix) {
  std::vector<float> all(size_t{matrix.dims[0]} * matrix.dims[1]);
  for (size_t row = 0; row < matrix.dims[0]; ++row) {
    matrix.load_row(row, std::span(all).subspan(row * matrix.dims[1], matrix.dims[1]));
  }
  return all;
}

void to_half_reference(const CpuCall& call) {
  const std::vector<float> x = numbers(call.inputs[0]);
  const Activation activation = call.as<ToHalf>().activation;
  const bool has_bias = call.inputs.size() == 2;
  for (size_t i = 0; i < x.size(); ++i) {
    const double added = has_bias ? call.inputs[1].f32()[i % call.inputs[0].dims[1]] : 0.0;
    store_half(call.outputs[0], i, float(activate(activation, x[i] + added)));
  }
}

void half_linear_reference(const CpuCall& call) {
  const auto& op = call.as<HalfLinear>();
  const std::vector<float> x = numbers(call.inputs[0]);
  CpuTensor w = call.inputs[1];
  w.data += size_t{op.first} * w.dims[1] * dtype_bytes(w.dtype);
  w.dims[0] = op.rows;
  const CpuTensor* bias = call.inputs.size() == 3 ? &call.inputs[2] : nullptr;
  product(x, w, nullptr, [&](size_t t, size_t r, double value) {
    const double added = bias == nullptr ? 0.0 : bias->f32()[op.first + r];
    store_half(call.outputs[0], t * op.rows + r, float(value + added));
  });
}

void pair_glu_reference(const CpuCall& call) {
  const std::vector<float> x = numbers(call.inputs[0]);
  for (size_t i = 0; i < x.size() / 2; ++i) {
    const double gate = activate(call.as<PairGlu>().activation, x[2 * i]);
    store_half(call.outputs[0], i, float(gate * x[2 * i + 1]));
  }
}

void gated_half_reference(const CpuCall& call) {
  const auto& op = call.as<GatedHalf>();
  const size_t columns = call.inputs[0].dims[1], up_columns = call.inputs[1].dims[1];
  const std::span<const float> gate = call.inputs[0].f32(), given = call.inputs[1].f32();
  std::vector<float> up(given.begin(), given.end());
  if (call.inputs.size() == 3) rms_norm(given, call.inputs[2].f32(), op.eps, up);
  for (size_t i = 0; i < gate.size(); ++i) {
    const float own = up[i / columns * up_columns + op.first + i % columns];
    store_half(call.outputs[0], i, float(activate(op.activation, gate[i]) * double(own)));
  }
}

/// A lane for every four columns of the result's rows.
Launch fours_launch(const Problem& p, Half type, std::vector<std::string> sources,
                    std::vector<Constant> constants = {}) {
  const uint32_t fours = uint32_t(p.outputs[0].shape[1]) / 4;
  constants.insert(constants.end(), {{"THREADS", kMapThreads}, {"FOURS", fours}});
  const std::string reads = fmt::format("library/fours_{}.wgsl", dtype_name(p.inputs[0].dtype));
  sources.insert(sources.begin(), {half_source(type), reads});
  sources.emplace_back("wgsl/entry.wgsl");
  return {.constants = std::move(constants),
          .sources = std::move(sources),
          .grid = {.x = {ceil_div(fours, kMapThreads)}, .y = {1, 1}}};
}

std::string rows_refuse(const Problem& p, const DeviceInfo&) {
  return are_rows_of_step(p.inputs[0]) ? "" : "is for the rows of a step";
}
Launch rows_launch(const Problem& p, const DeviceInfo&) {
  const bool has_bias = p.inputs.size() == 2;
  return fours_launch(
      p, p.as<ToHalf>().type,
      {kActivationSource, has_bias ? "library/fours_bias.wgsl" : "library/no_fours_bias.wgsl",
       "library/rows_to_half.wgsl"},
      {activation_constant(p.as<ToHalf>().activation)});
}

std::string weights_refuse(const Problem& p, const DeviceInfo&) {
  if (p.as<ToHalf>().activation != Activation::kIdentity) return "activates nothing";
  if (p.inputs.size() == 2) return "adds nothing";
  return are_rows_of_step(p.inputs[0]) ? "is for weights" : "";
}
Launch weights_launch(const Problem& p, const DeviceInfo&) {
  const TensorDesc& w = p.inputs[0];
  const uint32_t eights = uint32_t(w.shape[0] * w.shape[1] / 8);
  const uint32_t groups = std::min(ceil_div(eights, kConversionThreads), kMaxConversionGroups);
  return with_codec(
      wide_codec(w),
      {.constants = {{"THREADS", kConversionThreads}, {"EIGHTS", eights}, {"GROUPS", groups}},
       .sources = {half_source(p.as<ToHalf>().type), "library/weights_to_half.wgsl",
                   "wgsl/entry.wgsl"},
       .grid = {.x = {groups}}});
}

Launch pair_glu_launch(const Problem& p, const DeviceInfo&) {
  return fours_launch(p, p.as<PairGlu>().type, {kActivationSource, "library/pair_glu.wgsl"},
                      {activation_constant(p.as<PairGlu>().activation)});
}

template <bool kSubgroups>
Launch gated_half_launch(const Problem& p, const DeviceInfo&) {
  const auto& op = p.as<GatedHalf>();
  const uint32_t fours = uint32_t(p.outputs[0].shape[1]) / 4;
  Launch launch{.constants = {{"THREADS", kMapThreads},
                              {"FOURS", fours},
                              {"UP_COLUMNS", uint32_t(p.inputs[1].shape[1])},
                              {"FIRST", op.first},
                              activation_constant(op.activation)},
                .sources = {half_source(op.type), kActivationSource, "library/gated_half.wgsl"},
                .grid = {.x = {ceil_div(fours, kMapThreads)}, .y = {1, 1}}};
  if (p.inputs.size() == 3) {
    launch.constants.insert(launch.constants.end(),
                            {{"HEAD", uint32_t(p.inputs[2].shape[0])}, {"EPS", op.eps}});
  }
  launch.sources.emplace_back(p.inputs.size() < 3 ? "library/no_heads_norm.wgsl"
                              : kSubgroups        ? "library/heads_norm_subgroup.wgsl"
                                                  : "library/heads_norm.wgsl");
  launch.sources.emplace_back("wgsl/entry.wgsl");
  return launch;
}

/// The lanes that have a head are neighbours of one subgroup.
std::string heads_refuse(const Problem& p, const DeviceInfo& device) {
  if (p.inputs.size() < 3) return "is for normed heads";
  return lacks_lanes(device, uint32_t(p.inputs[2].shape[0]) / 4);
}

Launch half_linear_launch(const Problem& p, const DeviceInfo&) {
  const auto& op = p.as<HalfLinear>();
  const bool is_bf16 = p.inputs[0].dtype == DType::kBF16;
  Launch launch{.constants = {{"PAIRS", uint32_t(p.inputs[1].shape[1]) / 2},
                              {"FIRST_ROW", op.first},
                              {"THREADS", kMapThreads},
                              {"COLUMNS", op.rows}},
                .sources = {is_bf16 ? "library/pairs_of_bf16.wgsl" : "library/pairs_of_f16.wgsl",
                            "library/half_linear.wgsl",
                            p.inputs.size() == 3 ? "conv/bias.wgsl" : "conv/no_bias.wgsl"},
                .grid = {.x = {ceil_div(op.rows, kMapThreads)}, .y = {1, 1}}};
  const std::vector<std::string> stores =
      op.rounded ? std::vector<std::string>{half_source(is_bf16 ? Half::kBf16 : Half::kF16),
                                            "library/map_rounded.wgsl"}
                 : std::vector<std::string>{"elementwise/map.wgsl"};
  launch.sources.insert(launch.sources.end(), stores.begin(), stores.end());
  launch.sources.emplace_back("wgsl/entry.wgsl");
  return launch;
}

Launch library_launch(const Problem&, const DeviceInfo&) {
  return {.constants = {}, .sources = {}, .grid = {}, .calls_library = true};
}

/// Matrix units add in f32, but cut off what is shifted out: up to a unit of the last place for
/// each eight columns (Fasi et al., doi:10.7717/peerj-cs.330).
constexpr double kCutSums = 0x1p-20;

constexpr KernelVariant kLibraryVariants[] = {
    {.name = "to_half.wgsl.rows",
     .op = op_index<ToHalf>(),
     .refuses = rows_refuse,
     .launch = rows_launch},
    {.name = "to_half.wgsl.weights",
     .op = op_index<ToHalf>(),
     .refuses = weights_refuse,
     .launch = weights_launch},
    {.name = "to_half.cpu",
     .op = op_index<ToHalf>(),
     .backend = BackendKind::kCpu,
     .run = to_half_reference},
    {.name = "half_linear.cuda.library",
     .op = op_index<HalfLinear>(),
     .backend = BackendKind::kCuda,
     .needs = kFeatureLibrary,
     .launch = library_launch,
     .rounding = kCutSums},
    {.name = "half_linear.wgsl", .op = op_index<HalfLinear>(), .launch = half_linear_launch},
    {.name = "half_linear.cpu",
     .op = op_index<HalfLinear>(),
     .backend = BackendKind::kCpu,
     .run = half_linear_reference},
    {.name = "pair_glu.wgsl",
     .op = op_index<PairGlu>(),
     .launch = pair_glu_launch,
     .rounding = kHalfStep},
    {.name = "pair_glu.cpu",
     .op = op_index<PairGlu>(),
     .backend = BackendKind::kCpu,
     .run = pair_glu_reference},
    {.name = "gated_half.wgsl.subgroup",
     .op = op_index<GatedHalf>(),
     .needs = kFeatureSubgroups,
     .refuses = heads_refuse,
     .launch = gated_half_launch<true>,
     .rounding = kHalfStep},
    {.name = "gated_half.wgsl",
     .op = op_index<GatedHalf>(),
     .launch = gated_half_launch<false>,
     .rounding = kHalfStep},
    {.name = "gated_half.cpu",
     .op = op_index<GatedHalf>(),
     .backend = BackendKind::kCpu,
     .run = gated_half_reference},
};

}  // namespace

std::span<const KernelVariant> library_variants() {
  return kLibraryVariants;
}

}  // namespace tokamak
