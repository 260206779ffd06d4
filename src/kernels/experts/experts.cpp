#include "kernels/experts/experts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/elementwise/elementwise.h"
#include "kernels/experts/expert_matvec.h"
#include "kernels/experts/expert_sizes.h"
#include "kernels/launch.h"
#include "kernels/linear/matrix_tile.h"
#include "kernels/quant/codec.h"
#include "kernels/rows.h"

namespace tokamak {
namespace {

/// The key of order_key in route.wgsl.
uint32_t order_key(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return 0xffffffffu;
  return bits == size ? 0x80000000u + size : 0x80000000u - size;
}

/// Whether the order of the logits is that of what experts are chosen by.
bool by_logits(const Route& op) {
  return !op.biased && op.groups == 0;
}

/// The operand with a scale for each expert, if it is there.
uint32_t scale_operand(const Route& op) {
  return op.biased ? 2 : 1;
}

/// The values by which a token's experts are chosen: scores and biases, 0 in groups not used.
std::vector<double> route_values(const CpuCall& call, std::span<const double> scores) {
  const Route& op = call.as<Route>();
  std::vector<double> values(scores.begin(), scores.end());
  for (size_t e = 0; op.biased && e < values.size(); ++e) {
    values[e] += double(call.inputs[1].load(e));
  }
  if (op.groups == 0) return values;
  const size_t each = values.size() / op.groups;
  std::vector<double> worths(op.groups);
  for (size_t g = 0; g < op.groups; ++g) {
    std::vector<double> own(values.begin() + std::ptrdiff_t(g * each),
                            values.begin() + std::ptrdiff_t((g + 1) * each));
    std::ranges::sort(own, std::greater{});
    worths[g] = own[0] + (op.group_by == GroupBy::kTwo ? own[1] : 0.0);
  }
  std::vector<size_t> order(op.groups);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t g) { return worths[g]; });
  for (size_t i = op.groups_used; i < op.groups; ++i) {
    std::fill_n(values.begin() + std::ptrdiff_t(order[i] * each), each, 0.0);
  }
  return values;
}

std::vector<double> route_scores(const Route& op, std::span<const float> logits) {
  std::vector<double> scores;
  const double largest = op.score == Score::kSoftmax ? *std::ranges::max_element(logits) : 0;
  double total = 0;
  for (const float logit : logits) {
    const double scaled = double(op.factor) * (double(logit) - largest);
    scores.push_back(op.score == Score::kSoftmax ? std::exp(scaled) : 1 / (1 + std::exp(-scaled)));
    total += scores.back();
  }
  if (op.score == Score::kSigmoid) return scores;
  for (double& score : scores) score /= total;
  return scores;
}

/// The experts of the largest keys, of equals those of lower numbers first.
std::vector<uint32_t> best_experts(std::span<const uint32_t> keys, size_t count) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::partial_sort(
      order, order.begin() + std::ptrdiff_t(count),
      [&](uint32_t a, uint32_t b) { return keys[a] != keys[b] ? keys[a] > keys[b] : a < b; });
  order.resize(count);
  return order;
}

}  // namespace

void route_row(const CpuCall& call, size_t t) {
  const Route& op = call.as<Route>();
  const std::span<const float> logits = row_of(call.inputs[0], t);
  const std::span<float> shares = row_of(call.outputs[0], t);
  const size_t scale = scale_operand(op);
  const std::vector<double> scores = route_scores(op, logits);
  std::vector<uint32_t> keys(logits.size());
  if (by_logits(op)) {
    std::ranges::transform(logits, keys.begin(), order_key);
  } else {
    std::ranges::transform(route_values(call, scores), keys.begin(),
                           [](double value) { return order_key(float(value)); });
  }
  const std::vector<uint32_t> chosen = best_experts(keys, op.top_k);
  std::ranges::copy(chosen, call.outputs[1].u32().subspan(t * op.top_k).begin());
  double whole = double(op.eps);
  for (const uint32_t expert : chosen) whole += scores[expert];
  for (size_t s = 0; s < op.top_k; ++s) {
    double share = scores[chosen[s]] / (op.normalize ? whole : 1.0) * double(op.scaled);
    if (call.inputs.size() > scale) share *= double(call.inputs[scale].load(chosen[s]));
    shares[s] = float(share);
  }
}

void expert_columns_row(const CpuCall& call, size_t t) {
  const std::span<const float> x = row_of(call.inputs[0], t);
  const size_t n = call.inputs[1].dims[1], top_k = call.inputs[2].dims[1], x_rows = x.size() / n;
  const std::span<const uint32_t> order = call.inputs[1].u32();
  const std::span<float> y = row_of(call.outputs[0], t);
  for (size_t slot = 0; slot < top_k; ++slot) {
    const size_t expert = call.inputs[2].u32()[t * top_k + slot];
    for (size_t c = 0; c < n; ++c) y[slot * n + c] = x[slot % x_rows * n + order[expert * n + c]];
  }
}

namespace {

void expert_linear_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const CpuTensor& w = call.inputs[1];
  const std::span<const uint32_t> chosen = call.inputs[2].u32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t experts = call.as<ExpertLinear>().experts, top_k = call.inputs[2].dims[1];
  const size_t in = w.dims[1], out = w.dims[0] / experts, x_rows = call.inputs[0].dims[1] / in;
  std::vector<float> row(in);
  for (size_t slot = 0; slot < chosen.size(); ++slot) {
    TOK_CHECK(chosen[slot] < experts);
    const std::span<const float> own = x.subspan((slot / top_k * x_rows + slot % x_rows) * in, in);
    for (size_t r = 0; r < out; ++r) {
      w.load_row(chosen[slot] * out + r, row);
      double sum = std::inner_product(own.begin(), own.end(), row.begin(), 0.0);
      if (call.inputs.size() == 4) sum += call.inputs[3].f32()[chosen[slot] * out + r];
      y[slot * out + r] = float(sum);
    }
  }
}

void expert_sum_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), shares = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t top_k = call.inputs[1].dims[1], n = call.outputs[0].dims[1];
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t first = i / n * top_k;
    double sum = 0;
    for (size_t s = first; s < first + top_k; ++s) sum += double(shares[s]) * x[s * n + i % n];
    y[i] = float(sum);
  }
}

/// Workgroups per token: none when there is one row whatever the step's tokens.
Extent per_row(const Problem& p) {
  return {1, p.outputs[0].shape[0] == kTokens ? 1u : 0u};
}

template <bool kSubgroups>
Launch route_launch(const Problem& p, const DeviceInfo&) {
  const Route& op = p.as<Route>();
  const uint32_t experts = uint32_t(p.inputs[0].shape[1]), groups = std::max(op.groups, 1u);
  const uint32_t scale = scale_operand(op), threads = power_of_two(experts, 32, 256);
  std::vector<Constant> constants = {{"THREADS", threads},
                                     {"EACH", ceil_div(experts, threads)},
                                     {"EXPERTS", experts},
                                     {"TOP_K", op.top_k},
                                     {"FACTOR", op.factor},
                                     {"NORMALIZE", uint32_t{op.normalize}},
                                     {"SOFTMAX", uint32_t{op.score == Score::kSoftmax}},
                                     {"EPS", op.eps},
                                     {"SCALED", op.scaled}};
  std::vector<std::string> sources = {"experts/plain_share.wgsl"};
  if (p.inputs.size() > scale) {
    sources = {"experts/scaled_share.wgsl"};
    constants.push_back({"SCALE_INPUT", 1 + scale});  // its binding
  }
  if (by_logits(op)) {
    sources.push_back("experts/logit_values.wgsl");
  } else {
    constants.insert(constants.end(), {{"GROUPS", groups},
                                       {"PER_GROUP", experts / groups},
                                       {"GROUPS_USED", op.groups == 0 ? 1u : op.groups_used},
                                       {"BY_TWO", uint32_t{op.group_by == GroupBy::kTwo}}});
    sources.push_back(op.biased ? "experts/biased_score.wgsl" : "experts/plain_score.wgsl");
    sources.push_back("experts/score_values.wgsl");
  }
  sources.push_back("experts/route.wgsl");
  return {.constants = std::move(constants),
          .sources = with_reduction(kSubgroups, std::move(sources)),
          .grid = {.x = per_row(p)}};
}

// expert_linear

std::string matvec_refuses(const Problem& p, const DeviceInfo&) {
  std::string reason = shares_experts(p);
  return reason.empty() ? refuses_width(p) : reason;
}

/// One token's variant norms the row, too: fused_experts.cpp.
std::string glu_matvec_refuses(const Problem& p, const DeviceInfo& device) {
  if (norms_rows(p)) return "norms no rows";
  return has_many_tokens(p) ? matvec_refuses(p, device) : "is for several tokens";
}

template <bool kSubgroups>
Launch matvec(const Problem& p, const DeviceInfo&) {
  const ExpertProductSizes s = expert_sizes(p);
  Launch launch = {
      .constants = {{"THREADS", power_of_two(s.in / 32, 32, 256)},
                    {"EXPERTS", s.experts},
                    {"FIRST_EXPERT", s.first},
                    {"HELD", s.held},
                    {"IN", s.in},
                    {"OUT", s.out},
                    {"TOP_K", s.top_k},
                    {"X_ROWS", s.x_rows}},
      .sources = with_reduction(
          kSubgroups, {kActivationSource, gate_source(p), bias_source(p), "experts/results.wgsl",
                       "experts/plain_input.wgsl", "experts/matvec.wgsl"}),
      .grid = {.x = {ceil_div(s.rows, 4u)}, .y = {s.top_k}, .z = per_row(p)}};
  add_bias(launch, p);
  add_gate(launch, p);
  return with_codec(wide_codec(p.inputs[1]), std::move(launch));
}

// Products that take one expert per workgroup.

/// Tokens whose slots a workgroup looks for, which take 2 KiB of its memory. With a larger tile it
/// looks for those of more, so that fewer workgroups read the same weights.
constexpr uint32_t kGroupTokens = 512, kManyGroupTokens = 2048;

/// `tile_rows` rows of an expert by the slots of `tokens` tokens for a workgroup.
Launch grouped(const Problem& p, uint32_t threads, uint32_t tile_rows, uint32_t tokens,
               std::vector<std::string> sources) {
  const ExpertProductSizes s = expert_sizes(p);
  sources.insert(sources.begin(), {kActivationSource, gate_source(p), bias_source(p),
                                   "experts/results.wgsl", "experts/slots.wgsl"});
  Launch launch{.constants = {{"THREADS", threads},
                              {"FIRST_EXPERT", s.first},
                              {"IN", s.in},
                              {"OUT", s.out},
                              {"TOP_K", s.top_k},
                              {"X_ROWS", s.x_rows},
                              {"TOKENS", tokens}},
                .sources = std::move(sources),
                .grid = {.x = {ceil_div(s.rows, tile_rows)}, .y = {s.held}, .z = {1, tokens}}};
  if (bias_operand(p)) launch.constants.push_back({"EXPERTS", s.experts});
  add_bias(launch, p);
  add_gate(launch, p);
  return launch;
}

std::string grouped_refuses(const Problem& p, const DeviceInfo&) {
  if (norms_rows(p)) return "norms no rows";
  return has_many_tokens(p) ? refuses_width(p) : "is for several tokens";
}

Launch matmul(const Problem& p, const DeviceInfo&) {
  return with_codec(wide_codec(p.inputs[1]),
                    grouped(p, 128, 64, kGroupTokens,
                            {"linear/tile.wgsl", "experts/matmul.wgsl", "wgsl/entry.wgsl"}));
}

/// The tile for as many slots as an expert has of a step, and half as many again: a second tile
/// reads its weights once more. From how many on the large one is faster was measured on an H200
/// (docs/history/performance.md).
const MatrixTile& matrix_tile(const Problem& p, const DeviceInfo& device) {
  const ExpertProductSizes s = expert_sizes(p);
  const uint32_t lines = ceil_div(p.max_tokens * s.top_k * 3, s.experts * 2);
  const bool is_cuda = device.backend == BackendKind::kCuda;
  if (lines > (is_cuda ? 80 : 2 * kSmallTile.tokens())) return large_tile(device);
  return is_cuda && lines > kSmallTile.tokens() / 2 ? kWideCudaTile : few_tile(lines);
}

uint32_t matrix_tokens(const MatrixTile& tile) {
  return tile.tokens() > kSmallTile.tokens() ? kManyGroupTokens : kGroupTokens;
}

std::string matrix_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = grouped_refuses(p, device);
  if (!reason.empty()) return reason;
  const MatrixTile& tile = matrix_tile(p, device);
  return tile_refuses(tile, device, 4 * (matrix_tokens(tile) + tile.threads()) + 16);
}

Launch matrix(const Problem& p, const DeviceInfo& device) {
  const MatrixTile& tile = matrix_tile(p, device);
  return with_tile(
      p, tile,
      grouped(p, tile.threads(), tile.rows(), matrix_tokens(tile), {"experts/matrix.wgsl"}));
}

std::string any_refuses(const Problem& p, const DeviceInfo&) {
  const DType dtype = p.inputs[1].dtype;
  return is_packed(dtype) ? fmt::format("reads weights one by one, not {}", dtype_name(dtype)) : "";
}

Launch any(const Problem& p, const DeviceInfo&) {
  const ExpertProductSizes s = expert_sizes(p);
  Launch launch = {.constants = {{"THREADS", 64u},
                                 {"EXPERTS", s.experts},
                                 {"FIRST_EXPERT", s.first},
                                 {"HELD", s.held},
                                 {"IN", s.in},
                                 {"OUT", s.out},
                                 {"TOP_K", s.top_k},
                                 {"X_ROWS", s.x_rows}},
                   .sources = with_reduction(false, {bias_source(p), "experts/any.wgsl"}),
                   .grid = {.x = {s.out}, .y = {s.top_k}, .z = per_row(p)}};
  add_bias(launch, p);
  return with_codec(single_codec(p.inputs[1]), std::move(launch));
}

Launch map_launch(const Problem& p, const char* source, std::vector<Constant> constants) {
  const uint32_t columns = uint32_t(p.outputs[0].shape[1]);
  constants.insert(constants.end(), {{"THREADS", kMapThreads}, {"COLUMNS", columns}});
  return {.constants = std::move(constants),
          .sources = {source, "elementwise/map.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = per_row(p)}};
}

Launch expert_columns_launch(const Problem& p, const DeviceInfo&) {
  const uint32_t n = uint32_t(p.inputs[1].shape[1]);
  return map_launch(p, "experts/columns.wgsl",
                    {{"EXPERTS", uint32_t(p.inputs[1].shape[0])},
                     {"IN", n},
                     {"TOP_K", uint32_t(p.inputs[2].shape[1])},
                     {"X_ROWS", uint32_t(p.inputs[0].shape[1]) / n}});
}

Launch expert_sum_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, "experts/sum.wgsl", {{"TOP_K", uint32_t(p.inputs[1].shape[1])}});
}

constexpr KernelVariant kExpertsVariants[] = {
    {.name = "route.wgsl.subgroup",
     .op = op_index<Route>(),
     .needs = kFeatureSubgroups,
     .launch = route_launch<true>},
    {.name = "route.wgsl", .op = op_index<Route>(), .launch = route_launch<false>},
    {.name = "route.cpu",
     .op = op_index<Route>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<route_row>},
    {.name = "expert_linear.wgsl.matvec_subgroup",
     .op = op_index<ExpertLinear>(),
     .needs = kFeatureSubgroups,
     .refuses = matvec_refuses,
     .launch = matvec<true>},
    {.name = "expert_linear.wgsl.matvec",
     .op = op_index<ExpertLinear>(),
     .refuses = matvec_refuses,
     .launch = matvec<false>},
    {.name = "expert_linear.wgsl.matrix",
     .op = op_index<ExpertLinear>(),
     .needs = kMatrixFeatures,
     .refuses = matrix_refuses,
     .launch = matrix,
     .rounding = kF16Rounding},
    {.name = "expert_linear.wgsl.matmul",
     .op = op_index<ExpertLinear>(),
     .refuses = grouped_refuses,
     .launch = matmul},
    {.name = "expert_linear.wgsl.any",
     .op = op_index<ExpertLinear>(),
     .refuses = any_refuses,
     .launch = any},
    {.name = "expert_linear.cpu",
     .op = op_index<ExpertLinear>(),
     .backend = BackendKind::kCpu,
     .run = expert_linear_reference},
    {.name = "expert_glu.wgsl.matvec_subgroup",
     .op = op_index<ExpertGlu>(),
     .needs = kFeatureSubgroups,
     .refuses = glu_matvec_refuses,
     .launch = matvec<true>},
    {.name = "expert_glu.wgsl.matrix",
     .op = op_index<ExpertGlu>(),
     .needs = kMatrixFeatures,
     .refuses = matrix_refuses,
     .launch = matrix,
     .rounding = 2 * kF16Rounding},
    {.name = "expert_glu.wgsl.matmul",
     .op = op_index<ExpertGlu>(),
     .refuses = grouped_refuses,
     .launch = matmul},
    {.name = "expert_columns.wgsl",
     .op = op_index<ExpertColumns>(),
     .launch = expert_columns_launch},
    {.name = "expert_columns.cpu",
     .op = op_index<ExpertColumns>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<expert_columns_row>},
    {.name = "expert_sum.wgsl", .op = op_index<ExpertSum>(), .launch = expert_sum_launch},
    {.name = "expert_sum.cpu",
     .op = op_index<ExpertSum>(),
     .backend = BackendKind::kCpu,
     .run = expert_sum_reference},
};

}  // namespace

std::span<const KernelVariant> expert_variants() {
  return kExpertsVariants;
}

}  // namespace tokamak
