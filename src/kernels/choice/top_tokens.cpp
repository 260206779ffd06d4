#include "kernels/choice/top_tokens.h"

#include <cmath>
#include <limits>

#include "kernels/choice/choice.h"
#include "kernels/launch.h"

namespace tokamak {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr uint32_t kThreads = 256;

bool counts(float value) {
  return std::isfinite(value) && value > kLowest;
}

/// The numbers of the `kept` best values, best first; of equals the lowest number first. Those that
/// do not count are behind all others.
std::vector<uint32_t> best_of(std::span<const float> values, std::vector<uint32_t> numbers,
                              size_t kept) {
  const auto value = [&](uint32_t i) { return counts(values[i]) ? values[i] : kLowest; };
  std::ranges::partial_sort(
      numbers, numbers.begin() + std::ptrdiff_t(kept),
      [&](uint32_t a, uint32_t b) { return value(a) != value(b) ? value(a) > value(b) : a < b; });
  numbers.resize(kept);
  return numbers;
}

void block_peaks_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
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
      sum += std::exp((double(value) - double(peak)) * double(call.frame.rule.inverse_temperature));
    }
    y[first / block * 2] = peak;
    y[first / block * 2 + 1] = is_infinite ? -1 : float(sum);
  }
}

void best_blocks_reference(const CpuCall& call) {
  const std::span<const float> peaks = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  std::vector<float> values;
  std::vector<uint32_t> blocks;
  for (uint32_t i = 0; i < peaks.size() / 2; ++i) {
    values.push_back(peaks[2 * i]);
    blocks.push_back(i);
  }
  std::ranges::copy(best_of(values, std::move(blocks), y.size()), y.begin());
}

void top_tokens_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), peaks = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t block = size_t(candidate_block(int64_t(x.size()))), listed = y.size() / 2;
  std::vector<uint32_t> columns;
  for (const float number : call.inputs[2].f32()) {
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
  for (size_t i = 0; i < peaks.size(); i += 2) {
    is_infinite = is_infinite || peaks[i + 1] < 0;
    sum += double(peaks[i + 1]) * std::exp((double(peaks[i]) - double(y[0])) *
                                           double(call.frame.rule.inverse_temperature));
  }
  y[2 * listed] = is_infinite ? -1 : float(sum);
}

struct Sizes {
  uint32_t columns, block, blocks;
};
Sizes sizes_of(const Problem& p) {
  const Dim columns = p.inputs[0].shape[1], block = candidate_block(columns);
  return {uint32_t(columns), uint32_t(block), uint32_t(ceil_div(columns, block))};
}

Launch block_peaks_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kLanes = 16;
  const Sizes sizes = sizes_of(p);
  return {.constants = {{"THREADS", kThreads},
                        {"COLUMNS", sizes.columns},
                        {"BLOCK", sizes.block},
                        {"BLOCKS", sizes.blocks},
                        {"LANES", kLanes}},
          .sources = {"choice/order.wgsl", "choice/block_peaks.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(sizes.blocks, kThreads / kLanes)}}};
}

Launch best_blocks_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kItems = 16;
  const uint32_t blocks = uint32_t(p.inputs[0].shape[1] / 2);
  return {.constants = {{"THREADS", kThreads},
                        {"BLOCKS", blocks},
                        {"ITEMS", kItems},
                        {"KEPT", uint32_t(p.outputs[0].shape[1])}},
          .sources = {"choice/order.wgsl", "choice/best_blocks.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(blocks, kItems)}}};
}

Launch top_tokens_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kPiece = 512;
  const Sizes sizes = sizes_of(p);
  const uint32_t kept = uint32_t(p.inputs[2].shape[1]);
  return {.constants = {{"THREADS", kThreads},
                        {"COLUMNS", sizes.columns},
                        {"BLOCK", sizes.block},
                        {"BLOCKS", sizes.blocks},
                        {"PIECE", kPiece},
                        {"KEPT", kept},
                        {"LISTED", uint32_t(p.outputs[0].shape[1] / 2)}},
          .sources = {"wgsl/reduce.wgsl", "choice/order.wgsl", "choice/top_tokens.wgsl",
                      "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(kept * sizes.block, kPiece) + 1}}};
}

constexpr KernelVariant kVariants[] = {
    {.name = "block_peaks.wgsl",
     .op = op_index<BlockPeaks>(),
     .refuses = for_one_token,
     .launch = block_peaks_launch},
    {.name = "block_peaks.cpu",
     .op = op_index<BlockPeaks>(),
     .backend = BackendKind::kCpu,
     .refuses = for_one_token,
     .reference = block_peaks_reference},
    {.name = "best_blocks.wgsl",
     .op = op_index<BestBlocks>(),
     .refuses = for_one_token,
     .launch = best_blocks_launch},
    {.name = "best_blocks.cpu",
     .op = op_index<BestBlocks>(),
     .backend = BackendKind::kCpu,
     .refuses = for_one_token,
     .reference = best_blocks_reference},
    {.name = "top_tokens.wgsl",
     .op = op_index<TopTokens>(),
     .refuses = for_one_token,
     .launch = top_tokens_launch},
    {.name = "top_tokens.cpu",
     .op = op_index<TopTokens>(),
     .backend = BackendKind::kCpu,
     .refuses = for_one_token,
     .reference = top_tokens_reference},
};

}  // namespace

std::span<const KernelVariant> top_token_variants() {
  return kVariants;
}

}  // namespace tokamak
