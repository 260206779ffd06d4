#include "kernels/sampling/sampling.h"

#include <limits>

#include "kernels/launch.h"

namespace tokamak {
namespace {

constexpr float kMax = std::numeric_limits<float>::max();

void block_argmax_reference(const CpuCall& call) {
  const size_t columns = call.inputs[0].dims[1], pairs = call.outputs[0].dims[1];
  for (size_t t = 0; t < call.inputs[0].dims[0]; ++t) {
    block_argmax(call.inputs[0].f32().subspan(t * columns, columns),
                 call.outputs[0].f32().subspan(t * pairs, pairs));
  }
}

void next_token_reference(const CpuCall& call) {
  const size_t columns = call.inputs[0].dims[1];
  for (uint32_t row = 0; row < call.batch.rows(); ++row) {
    const std::span<const float> pairs = call.inputs[0].f32().subspan(row * columns, columns);
    float best = -kMax, column = 0;
    for (size_t i = 0; i < pairs.size(); i += 2) {
      if (pairs[i] > best || (pairs[i] == best && pairs[i + 1] < column)) {
        best = pairs[i];
        column = pairs[i + 1];
      }
    }
    const bool is_token = best > -kMax && best <= kMax;
    const size_t step = call.batch.slot(row).chosen % call.outputs[0].dims[0];
    call.outputs[0].store(step * call.max_rows + row, is_token ? column : -1.0f);
    to_next_step(call.batch, row, is_token ? uint32_t(column) : 0);
  }
}

template <bool kSubgroups>
Launch block_argmax_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kThreads = kSubgroups ? 256 : kArgmaxBlock;
  const uint32_t columns = uint32_t(p.inputs[0].shape[1]);
  const bool per_token = p.inputs[0].shape[0] == kTokens;
  return {.constants = {{"THREADS", kThreads}, {"BEST_LANES", kArgmaxBlock}, {"COLUMNS", columns}},
          .sources = {"sampling/best.wgsl",
                      kSubgroups ? "sampling/best_subgroup.wgsl" : "sampling/best_memory.wgsl",
                      "sampling/block_argmax.wgsl",
                      kSubgroups ? "wgsl/entry_subgroup.wgsl" : "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kThreads)}, .y = {1, per_token ? 1u : 0u}}};
}

std::string block_argmax_refuses(const Problem&, const DeviceInfo& device) {
  return device.subgroup_max <= kArgmaxBlock
             ? ""
             : fmt::format("a subgroup may have {} lanes, and a block {}", device.subgroup_max,
                           kArgmaxBlock);
}

Launch next_token_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kThreads = 256;
  return {.constants = {{"THREADS", kThreads},
                        {"BEST_LANES", kThreads},
                        {"LOADS", 8u},
                        {"CANDIDATES", uint32_t(p.inputs[0].shape[1] / 2)},
                        {"MAX_ROWS", p.max_tokens},
                        {"IDS", uint32_t(p.outputs[0].shape[0])}},
          .sources = {"sampling/best.wgsl", "sampling/best_memory.wgsl", "sampling/next_token.wgsl",
                      "wgsl/entry.wgsl"},
          .grid = {.x = {1, 1}},
          .writes_batch = true};
}

constexpr KernelVariant kSamplingVariants[] = {
    {.name = "block_argmax.wgsl.subgroup",
     .op = op_index<BlockArgmax>(),
     .needs = kFeatureSubgroups,
     .refuses = block_argmax_refuses,
     .launch = block_argmax_launch<true>},
    {.name = "block_argmax.wgsl",
     .op = op_index<BlockArgmax>(),
     .launch = block_argmax_launch<false>},
    {.name = "block_argmax.cpu",
     .op = op_index<BlockArgmax>(),
     .backend = BackendKind::kCpu,
     .run = block_argmax_reference},
    {.name = "next_token.wgsl",
     .op = op_index<NextToken>(),
     .refuses = for_decoding,
     .launch = next_token_launch},
    {.name = "next_token.cpu",
     .op = op_index<NextToken>(),
     .backend = BackendKind::kCpu,
     .refuses = for_decoding,
     .run = next_token_reference},
};

}  // namespace

void block_argmax(std::span<const float> x, std::span<float> pairs) {
  for (size_t first = 0; first < x.size(); first += kArgmaxBlock) {
    float best = -kMax;
    size_t column = first;
    for (size_t i = first; i < std::min<size_t>(first + kArgmaxBlock, x.size()); ++i) {
      if (x[i] > best) {
        best = x[i];
        column = i;
      }
    }
    pairs[first / kArgmaxBlock * 2] = best;
    pairs[first / kArgmaxBlock * 2 + 1] = float(column);
  }
}

std::string for_decoding(const Problem& p, const DeviceInfo&) {
  return p.max_tokens == 1 || p.decodes ? "" : "is for one token of a sequence";
}

void to_next_step(const BatchView& batch, uint32_t row, uint32_t token) {
  batch.ids()[row] = token;
  Slot& slot = batch.slot(row);
  ++slot.position;
  ++slot.length;
  ++slot.chosen;
}

std::span<const KernelVariant> sampling_variants() {
  return kSamplingVariants;
}

}  // namespace tokamak
