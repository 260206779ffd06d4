#include "kernels/linear/linear.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/launch.h"
#include "kernels/linear/fused_linear.h"
#include "kernels/linear/gated_ffn.h"
#include "kernels/linear/matrix.h"
#include "kernels/linear/matrix_tile.h"
#include "kernels/linear/matvec.h"
#include "kernels/linear/product.h"
#include "kernels/linear/small_batch.h"
#include "kernels/quant/codec.h"

namespace tokamak {

uint32_t in_size(const Problem& p) {
  return uint32_t(p.inputs[1].shape[1]);
}
uint32_t row_count(const Problem& p) {
  return uint32_t(p.inputs[1].shape[0]);
}
uint32_t part_count(const Problem& p) {
  const auto* split = std::get_if<SplitLinear>(p.op);
  return split == nullptr ? 1 : split->parts;
}
bool per_token(const Problem& p) {
  return p.inputs[0].shape[0] == kTokens && p.max_tokens > 1;
}

std::string wide_rows(const Problem& p) {
  const uint32_t columns = in_size(p) / part_count(p);
  if (part_count(p) > 1 && row_count(p) % 2 != 0) return "pairs of rows do not end with a part";
  return columns % kColumnsAtOnce == 0
             ? ""
             : fmt::format("in = {} is no multiple of {}", columns, kColumnsAtOnce);
}
std::string is_f16(const Problem& p) {
  const DType dtype = p.inputs[1].dtype;
  return dtype == DType::kF16 ? ""
                              : fmt::format("is for f16 weights, these are {}", dtype_name(dtype));
}

namespace {

/// Rows that the outputs have: more than the matrix at hand where that is cut.
uint32_t all_rows(const Problem& p) {
  return p.cut.total != 0 ? p.cut.total : row_count(p);
}

/// The ending of a fused linear that makes something of its rows.
void add_fused_ending(Launch& launch, const Problem& p) {
  const auto& op = p.as<FusedLinear>();
  if (op.operands() > op.r()) launch.constants.push_back({"R_BINDING", binding_of(op.r())});
  if (op.epilogue == Epilogue::kGate) launch.constants.push_back({"FIRST", op.first});
  if (op.epilogue == Epilogue::kConv) {
    const Shape& taps = p.inputs[op.r()].shape;
    launch.constants.push_back({"CONVOLVED", uint32_t(taps[0])});
    launch.constants.push_back({"TAPS", uint32_t(taps[1])});
  }
  launch.constants.push_back(activation_constant(op.activation));
  launch.sources.push_back(kActivationSource);
  launch.sources.push_back(
      fmt::format("linear/epilogue/store_{}.wgsl", kEpilogueNames[size_t(op.epilogue)]));
}

}  // namespace

void add_ending(Launch& launch, const Problem& p) {
  const auto* fused = std::get_if<FusedLinear>(p.op);
  const bool has_bias = fused != nullptr ? fused->bias : p.inputs.size() == 3;
  const auto add = [&](std::string source) { launch.sources.push_back(std::move(source)); };
  add(has_bias ? "linear/epilogue/bias.wgsl" : "linear/epilogue/no_bias.wgsl");
  launch.constants.push_back({"OUT", part_count(p) * all_rows(p)});
  const Epilogue epilogue = fused != nullptr ? fused->epilogue : Epilogue::kNone;
  if (const auto* glu = std::get_if<LinearGlu>(p.op)) {
    launch.constants.push_back(activation_constant(glu->activation));
    add(kActivationSource);
    add("linear/epilogue/store_glu.wgsl");
  } else if (epilogue != Epilogue::kNone && epilogue != Epilogue::kAdd) {
    add_fused_ending(launch, p);
  } else if (std::holds_alternative<Qkv>(*p.op)) {
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      launch.constants.push_back({fmt::format("ROWS_{}", i), uint32_t(p.outputs[i].shape[1])});
    }
    add(fmt::format("linear/epilogue/store_split{}.wgsl", p.outputs.size()));
    add("linear/epilogue/store_split.wgsl");
  } else if (fused != nullptr && fused->clears) {
    launch.constants.push_back(
        {"CLEARED_BINDING", binding_of(p.inputs.size() + p.outputs.size() - 1)});
    add("linear/epilogue/store_clear.wgsl");
  } else {
    add("linear/epilogue/store.wgsl");
  }
}

void add_groups(Launch& launch, uint32_t groups) {
  constexpr uint32_t kRowOfGroups = 32768;
  const uint32_t grid_x = std::min(groups, kRowOfGroups);
  launch.grid.x = {grid_x};
  launch.grid.y = {ceil_div(groups, grid_x)};
  launch.constants.push_back({"GRID_X", grid_x});
}

std::string wide_subgroups(const DeviceInfo& device) {
  return device.subgroup_max <= kMinLanes
             ? ""
             : fmt::format("a subgroup may have {} lanes, and a row {}", device.subgroup_max,
                           kMinLanes);
}

std::vector<Constant> linear_sizes(const Problem& p, uint32_t threads) {
  return {
      {"THREADS", threads}, {"IN", in_size(p)}, {"ROWS", row_count(p)}, {"FIRST_ROW", p.cut.first}};
}

std::vector<Constant> part_sizes(const Problem& p, uint32_t threads) {
  return {{"THREADS", threads},   {"COLUMNS", in_size(p)},    {"IN", in_size(p) / part_count(p)},
          {"ROWS", row_count(p)}, {"PART_ROWS", all_rows(p)}, {"FIRST_ROW", p.cut.first}};
}

namespace {

/// The product of an op whose inputs are x, W and, if it has one, a bias.
void product_of(const CpuCall& call, auto&& store) {
  product(call.inputs[0].f32(), call.inputs[1], call.inputs.size() == 3 ? &call.inputs[2] : nullptr,
          store);
}

void linear_reference(const CpuCall& call) {
  const std::span<float> y = call.outputs[0].f32();
  const size_t out = call.outputs[0].dims[1];
  product_of(call, [&](size_t t, size_t r, double value) { y[t * out + r] = float(value); });
}

void split_linear_reference(const CpuCall& call) {
  const uint32_t parts = call.as<SplitLinear>().parts;
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  const CpuTensor& w = call.inputs[1];
  const size_t out = w.dims[0], in = w.dims[1], columns = in / parts;
  std::vector<float> part(x.size() / parts);
  for (size_t p = 0; p < parts; ++p) {
    for (size_t i = 0; i < part.size(); ++i) {
      part[i] = x[i / columns * in + p * columns + i % columns];
    }
    product_of_columns(part, w, p * columns, columns, [&](size_t t, size_t r, double value) {
      y[(t * parts + p) * out + r] = float(value);
    });
  }
}

void qkv_reference(const CpuCall& call) {
  product_of(call, [&](size_t t, size_t r, double value) {
    for (const CpuTensor& output : call.outputs) {
      const size_t columns = output.dims[1];
      if (r < columns) {
        output.f32()[t * columns + r] = float(value);
        return;
      }
      r -= columns;
    }
  });
}

void linear_glu_reference(const CpuCall& call) {
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = call.outputs[0].dims[1], rows = call.outputs[0].dims[0];
  std::vector<double> gate(rows);
  product_of(call, [&](size_t t, size_t r, double value) {
    if (r % 2 == 0) {
      gate[t] = activate(call.as<LinearGlu>().activation, value);
    } else {
      y[t * columns + r / 2] = float(gate[t] * value);
    }
  });
}

// matmul: a tile of tokens by a tile of rows per workgroup.

constexpr uint32_t kMatmulThreads = 256;
constexpr uint32_t kMatmulTile = 64;

std::string matmul_refuses(const Problem& p, const DeviceInfo&) {
  return per_token(p) ? wide_rows(p) : "is for several tokens";
}
std::string matmul_f16_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = is_f16(p); !reason.empty()) return reason;
  return matmul_refuses(p, device);
}

std::string split_matmul_refuses(const Problem& p, const DeviceInfo&) {
  return wide_rows(p);
}

Launch matmul_with(const Problem& p, WeightCodec codec) {
  Launch launch{
      .constants = part_sizes(p, kMatmulThreads),
      .sources = {"wgsl/entry.wgsl", "linear/tile.wgsl", "linear/matmul.wgsl"},
      .grid = {
          .x = {ceil_div(row_count(p), kMatmulTile)}, .y = {1, kMatmulTile}, .z = {part_count(p)}}};
  add_ending(launch, p);
  return with_codec(std::move(codec), std::move(launch));
}
Launch matmul(const Problem& p, const DeviceInfo&) {
  return matmul_with(p, wide_codec(p.inputs[1]));
}
Launch matmul_f16(const Problem& p, const DeviceInfo&) {
  return matmul_with(p, native_f16_codec(p.inputs[1]));
}

// linear_any: two rows of one token per workgroup, every row length.

std::string any_refuses(const Problem& p, const DeviceInfo&) {
  const DType dtype = p.inputs[1].dtype;
  return is_packed(dtype) ? fmt::format("reads weights one by one, not {}", dtype_name(dtype)) : "";
}

Launch any(const Problem& p, const DeviceInfo&) {
  Launch launch{.constants = linear_sizes(p, 64),
                .sources = with_reduction(false, {"linear/any.wgsl"}),
                .grid = {.x = {}, .y = {}, .z = {1, per_token(p) ? 1u : 0u}}};
  add_groups(launch, ceil_div(row_count(p), 2u));
  add_ending(launch, p);
  return with_codec(single_codec(p.inputs[1]), std::move(launch));
}

/// Products of so few rows that tiles would leave nearly all of the device idle while they walk
/// along many columns, for so few tokens that each may read the matrix: the scores of experts.
std::string row_pair_refuses(const Problem& p, const DeviceInfo& device) {
  constexpr uint32_t kMaxTokens = 64, kMinColumns = 1024;
  if (!per_token(p) || p.max_tokens > kMaxTokens) {
    return fmt::format("is for 2 to {} tokens", kMaxTokens);
  }
  if (in_size(p) < kMinColumns) return fmt::format("is for {} columns or more", kMinColumns);
  const uint32_t tiles = ceil_div(row_count(p), kSmallTile.rows());
  if (8 * tiles > device.size.groups(1)) return fmt::format("{} tiles are busy enough", tiles);
  return any_refuses(p, device);
}

/// A way that linear alone has, before those of all three ops.
constexpr Way kRowPair[] = {{"row_pair", 0, row_pair_refuses, any}};

/// For each of the three ops, in the order of preference, after those for one token.
constexpr Way kWays[] = {
    {"small_batch_dot4", kFeatureSubgroups | kFeatureDot4, small_batch_bytes_refuses,
     small_batch_bytes, kStepRounding},
    {"matrix_narrow", kMatrixFeatures, narrow_matrix_refuses, narrow_matrix, kF16Rounding},
    {"small_batch_subgroup", kFeatureSubgroups, small_batch_subgroup_refuses, small_batch_subgroup},
    {"small_batch", 0, small_batch_refuses, small_batch_plain},
    {"matrix_large", kMatrixFeatures, large_matrix_refuses, large_matrix, kF16Rounding},
    {"matrix", kMatrixFeatures, small_matrix_refuses, small_matrix, kF16Rounding},
    {"matmul_f16", kFeatureF16, matmul_f16_refuses, matmul_f16},
    {"matmul", 0, matmul_refuses, matmul},
    {"any", 0, any_refuses, any},
};

/// For those that take one part of the columns at a time.
constexpr Way kSplitWays[] = {
    {"small_batch_dot4", kFeatureSubgroups | kFeatureDot4, small_batch_bytes_refuses,
     small_batch_bytes, kStepRounding},
    {"matrix_narrow", kMatrixFeatures, narrow_matrix_refuses, narrow_matrix, kF16Rounding},
    {"matrix", kMatrixFeatures, small_matrix_refuses, small_matrix, kF16Rounding},
    {"matmul", 0, split_matmul_refuses, matmul},
};

template <typename T>
void add_family(std::vector<KernelVariant>& all, void (*reference)(const CpuCall&)) {
  static const std::string cpu = fmt::format("{}.cpu", T::kName);
  add_ways<T>(all, matvec_ways());
  if constexpr (std::is_same_v<T, Linear>) add_ways<T>(all, kRowPair);
  add_ways<T>(all, kWays);
  all.push_back({cpu, op_index<T>(), BackendKind::kCpu, 0, nullptr, nullptr, reference, 0});
}

std::vector<KernelVariant> make_variants() {
  std::vector<KernelVariant> all;
  add_family<Linear>(all, linear_reference);
  add_family<Qkv>(all, qkv_reference);
  const std::span<const KernelVariant> fused = fused_linear_variants();
  all.insert(all.end(), fused.begin(), fused.end());
  const std::span<const KernelVariant> down = gated_ffn_variants();
  all.insert(all.end(), down.begin(), down.end());
  add_family<LinearGlu>(all, linear_glu_reference);
  add_ways<SplitLinear>(all, kSplitWays);
  all.push_back({"split_linear.cpu", op_index<SplitLinear>(), BackendKind::kCpu, 0, nullptr,
                 nullptr, split_linear_reference, 0});
  return all;
}

}  // namespace

std::span<const KernelVariant> linear_variants() {
  static const std::vector<KernelVariant> all = make_variants();
  return all;
}

}  // namespace tokamak
