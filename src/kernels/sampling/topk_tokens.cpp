#include "kernels/sampling/topk_tokens.h"

#include <cmath>
#include <limits>

#include "kernels/launch.h"
#include "kernels/rows.h"

namespace tokamak {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr uint32_t kThreads = 256;

bool counts(float value) {
  return std::isfinite(value) && value > kLowest;
}

/// The numbers of the `kept` best values, best first; of equals the lowest number first. Those that
/// do not count are after all others.
template <typename Values>
std::vector<uint32_t> best_of(const Values& values, std::vector<uint32_t> numbers, size_t kept) {
  const auto value = [&](uint32_t i) { return counts(values[i]) ? values[i] : kLowest; };
  std::ranges::partial_sort(
      numbers, numbers.begin() + std::ptrdiff_t(kept),
      [&](uint32_t a, uint32_t b) { return value(a) != value(b) ? value(a) > value(b) : a < b; });
  numbers.resize(kept);
  return numbers;
}

void block_maxima_row(const CpuCall& call, size_t t) {
  const AllowedLogits x(call, t, call.inputs[1]);
  const double inverse_temperature = call.batch.slot_of(t).rule.inverse_temperature;
  const std::span<float> y = row_of(call.outputs[0], t);
  const size_t block = size_t(candidate_block(int64_t(x.size())));
  std::vector<float> room(block);
  for (size_t first = 0; first < x.size(); first += block) {
    const auto values = x.part(first, std::span(room).first(std::min(block, x.size() - first)));
    float peak = kLowest;
    bool is_infinite = false;
    for (const float value : values) {
      if (counts(value)) peak = std::max(peak, value);
      is_infinite = is_infinite || value == std::numeric_limits<float>::infinity();
    }
    double sum = 0;
    for (const float value : values) {
      if (!counts(value)) continue;
      sum += std::exp((double(value) - double(peak)) * inverse_temperature);
    }
    y[first / block * 2] = peak;
    y[first / block * 2 + 1] = is_infinite ? -1 : float(sum);
  }
}

}  // namespace

AllowedLogits::AllowedLogits(const CpuCall& call, size_t row, const CpuTensor& allowed)
    : logits_(row_of(call.inputs[0], row)) {
  const Slot& slot = call.batch.slot_of(row);
  if (slot.rule.masked != 0) allowed_ = allowed.of_slot(slot.index).u32();
}

std::span<const float> AllowedLogits::part(size_t first, std::span<float> room) const {
  if (allowed_.empty()) return logits_.subspan(first, room.size());
  for (size_t i = 0; i < room.size(); ++i) room[i] = (*this)[first + i];
  return room;
}

void topk_blocks_row(const CpuCall& call, size_t t) {
  const std::span<const float> maxima = row_of(call.inputs[0], t);
  const std::span<float> y = row_of(call.outputs[0], t);
  std::vector<float> values;
  std::vector<uint32_t> blocks;
  for (uint32_t i = 0; i < maxima.size() / 2; ++i) {
    values.push_back(maxima[2 * i]);
    blocks.push_back(i);
  }
  std::ranges::copy(best_of(values, std::move(blocks), y.size()), y.begin());
}

void topk_tokens_row(const CpuCall& call, size_t t) {
  const AllowedLogits x(call, t, call.inputs[3]);
  const std::span<const float> maxima = row_of(call.inputs[1], t);
  const std::span<const float> blocks = row_of(call.inputs[2], t);
  const double inverse_temperature = call.batch.slot_of(t).rule.inverse_temperature;
  const std::span<float> y = row_of(call.outputs[0], t);
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
    sum +=
        double(maxima[i + 1]) * std::exp((double(maxima[i]) - double(y[0])) * inverse_temperature);
  }
  y[2 * listed] = is_infinite ? -1 : float(sum);
}

namespace {

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
     .run = row_by_row<block_maxima_row>},
    {.name = "topk_blocks.wgsl", .op = op_index<TopKBlocks>(), .launch = topk_blocks_launch},
    {.name = "topk_blocks.cpu",
     .op = op_index<TopKBlocks>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<topk_blocks_row>},
    {.name = "topk_tokens.wgsl", .op = op_index<TopKTokens>(), .launch = topk_tokens_launch},
    {.name = "topk_tokens.cpu",
     .op = op_index<TopKTokens>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<topk_tokens_row>},
};

}  // namespace

std::span<const KernelVariant> top_token_variants() {
  return kTopkTokensVariants;
}

}  // namespace tokamak
