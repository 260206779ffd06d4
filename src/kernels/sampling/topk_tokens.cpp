#include "kernels/sampling/topk_tokens.h"

#include <cmath>
#include <limits>

#include "kernels/launch.h"

namespace tokamak {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr uint32_t kThreads = 256;

bool counts(float value) {
  return std::isfinite(value) && value > kLowest;
}

/// A row of logits, without what its slot's mask leaves out.
std::vector<float> logits_of(const CpuCall& call, size_t row, const CpuTensor& allowed) {
  const size_t columns = call.inputs[0].dims[1];
  const auto all = call.inputs[0].f32().subspan(row * columns, columns);
  std::vector<float> logits(all.begin(), all.end());
  const Slot& slot = call.batch.slot_of(row);
  if (slot.rule.masked == 0) return logits;
  const std::span<const uint32_t> own = allowed.of_slot(slot.index).u32();
  for (uint32_t i = 0; i < columns; ++i) {
    if (!has_token(own, i)) logits[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return logits;
}

/// The numbers of the `kept` best values, best first; of equals the lowest number first. Those that
/// do not count are after all others.
std::vector<uint32_t> best_of(std::span<const float> values, std::vector<uint32_t> numbers,
                              size_t kept) {
  const auto value = [&](uint32_t i) { return counts(values[i]) ? values[i] : kLowest; };
  std::ranges::partial_sort(
      numbers, numbers.begin() + std::ptrdiff_t(kept),
      [&](uint32_t a, uint32_t b) { return value(a) != value(b) ? value(a) > value(b) : a < b; });
  numbers.resize(kept);
  return numbers;
}

void block_maxima_row(std::span<const float> x, float inverse_temperature, std::span<float> y) {
  const size_t block = size_t(candidate_block(int64_t(x.size())));
  for (size_t first = 0; first < x.size(); first += block) {
    const auto values = x.subspan(first, std::min(block, x.size() - first));
    float peak = kLowest;
    bool is_infinite = false;
    for (const float value : values) {
      if (counts(value)) peak = std::max(peak, value);
      is_infinite = is_infinite || value == std::numeric_limits<float>::infinity();
    }
    double sum = 0;
    for (const float value : values) {
      if (!counts(value)) continue;
      sum += std::exp((double(value) - double(peak)) * double(inverse_temperature));
    }
    y[first / block * 2] = peak;
    y[first / block * 2 + 1] = is_infinite ? -1 : float(sum);
  }
}

void topk_blocks_row(std::span<const float> maxima, std::span<float> y) {
  std::vector<float> values;
  std::vector<uint32_t> blocks;
  for (uint32_t i = 0; i < maxima.size() / 2; ++i) {
    values.push_back(maxima[2 * i]);
    blocks.push_back(i);
  }
  std::ranges::copy(best_of(values, std::move(blocks), y.size()), y.begin());
}

void topk_tokens_row(std::span<const float> x, std::span<const float> maxima,
                     std::span<const float> blocks, float inverse_temperature, std::span<float> y) {
  const size_t block = size_t(candidate_block(int64_t(x.size()))), listed = y.size() / 2;
  std::vector<uint32_t> columns;
  for (const float number : blocks) {
    const size_t first = size_t(number) * block;
    for (size_t i = first; i < std::min(first + block, x.size()); ++i) {
      columns.push_back(uint32_t(i));
    }
  }
  columns = best_of(x, std::move(columns), listed);
  for (size_t i = 0; i < listed; ++i) {
    const bool is_listed = counts(x[columns[i]]);
    y[2 * i] = is_listed ? x[columns[i]] : kLowest;
    y[2 * i + 1] = is_listed ? float(columns[i]) : -1;
  }
  double sum = 0;
  bool is_infinite = false;
  for (size_t i = 0; i < maxima.size(); i += 2) {
    is_infinite = is_infinite || maxima[i + 1] < 0;
    sum += double(maxima[i + 1]) *
           std::exp((double(maxima[i]) - double(y[0])) * double(inverse_temperature));
  }
  y[2 * listed] = is_infinite ? -1 : float(sum);
}

std::span<float> row_of(const CpuTensor& tensor, size_t row) {
  return tensor.f32().subspan(row * tensor.dims[1], tensor.dims[1]);
}

void block_maxima_reference(const CpuCall& call) {
  for (size_t t = 0; t < call.inputs[0].dims[0]; ++t) {
    block_maxima_row(logits_of(call, t, call.inputs[1]),
                     call.batch.slot_of(t).rule.inverse_temperature, row_of(call.outputs[0], t));
  }
}

void topk_blocks_reference(const CpuCall& call) {
  for (size_t t = 0; t < call.inputs[0].dims[0]; ++t) {
    topk_blocks_row(row_of(call.inputs[0], t), row_of(call.outputs[0], t));
  }
}

void topk_tokens_reference(const CpuCall& call) {
  for (size_t t = 0; t < call.inputs[0].dims[0]; ++t) {
    topk_tokens_row(logits_of(call, t, call.inputs[3]), row_of(call.inputs[1], t),
                    row_of(call.inputs[2], t), call.batch.slot_of(t).rule.inverse_temperature,
                    row_of(call.outputs[0], t));
  }
}

struct Sizes {
  uint32_t columns, block, blocks;
};
Sizes sizes_of(const Problem& p) {
  const Dim columns = p.inputs[0].shape[1], block = candidate_block(columns);
  return {uint32_t(columns), uint32_t(block), uint32_t(ceil_div(columns, block))};
}

Launch block_maxima_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kLanes = 16;
  const Sizes sizes = sizes_of(p);
  return {.constants = {{"THREADS", kThreads},
                        {"COLUMNS", sizes.columns},
                        {"BLOCK", sizes.block},
                        {"BLOCKS", sizes.blocks},
                        {"WORDS", uint32_t(token_words(sizes.columns))},
                        {"LANES", kLanes}},
          .sources = {"sampling/order.wgsl", "sampling/allowed.wgsl", "sampling/block_maxima.wgsl",
                      "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(sizes.blocks, kThreads / kLanes)}, .y = {1, 1}}};
}

Launch topk_blocks_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kItems = 16;
  const uint32_t blocks = uint32_t(p.inputs[0].shape[1] / 2);
  return {.constants = {{"THREADS", kThreads},
                        {"BLOCKS", blocks},
                        {"ITEMS", kItems},
                        {"KEPT", uint32_t(p.outputs[0].shape[1])}},
          .sources = {"sampling/order.wgsl", "sampling/topk_blocks.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(blocks, kItems)}, .y = {1, 1}}};
}

Launch topk_tokens_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kPiece = 512;
  const Sizes sizes = sizes_of(p);
  const uint32_t kept = uint32_t(p.inputs[2].shape[1]);
  return {.constants = {{"THREADS", kThreads},
                        {"COLUMNS", sizes.columns},
                        {"BLOCK", sizes.block},
                        {"BLOCKS", sizes.blocks},
                        {"WORDS", uint32_t(token_words(sizes.columns))},
                        {"PIECE", kPiece},
                        {"KEPT", kept},
                        {"LISTED", uint32_t(p.outputs[0].shape[1] / 2)}},
          .sources = {"wgsl/reduce.wgsl", "sampling/order.wgsl", "sampling/allowed.wgsl",
                      "sampling/topk_tokens.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(kept * sizes.block, kPiece) + 1}, .y = {1, 1}}};
}

constexpr KernelVariant kTopkTokensVariants[] = {
    {.name = "block_maxima.wgsl", .op = op_index<BlockMaxima>(), .launch = block_maxima_launch},
    {.name = "block_maxima.cpu",
     .op = op_index<BlockMaxima>(),
     .backend = BackendKind::kCpu,
     .run = block_maxima_reference},
    {.name = "topk_blocks.wgsl", .op = op_index<TopKBlocks>(), .launch = topk_blocks_launch},
    {.name = "topk_blocks.cpu",
     .op = op_index<TopKBlocks>(),
     .backend = BackendKind::kCpu,
     .run = topk_blocks_reference},
    {.name = "topk_tokens.wgsl", .op = op_index<TopKTokens>(), .launch = topk_tokens_launch},
    {.name = "topk_tokens.cpu",
     .op = op_index<TopKTokens>(),
     .backend = BackendKind::kCpu,
     .run = topk_tokens_reference},
};

}  // namespace

std::span<const KernelVariant> top_token_variants() {
  return kTopkTokensVariants;
}

}  // namespace tokamak
