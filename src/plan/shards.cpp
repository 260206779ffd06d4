#include "plan/shards.h"

#include <algorithm>
#include <numeric>

#include "base/bits.h"
#include "base/packing.h"
#include "graph/row_range.h"

namespace tokamak {
namespace {

/// For a matrix that `op` reads as its second input; see rows_together().
uint64_t rows_of_part(const Op& op, const TensorDesc& matrix) {
  const uint32_t experts = experts_of(op);
  if (experts != 0) return uint64_t(matrix.shape[0]) / experts;
  const bool any = std::holds_alternative<Embed>(op) || std::holds_alternative<Linear>(op) ||
                   std::holds_alternative<Qkv>(op) || std::holds_alternative<LinearGlu>(op) ||
                   std::holds_alternative<SplitLinear>(op) ||
                   std::holds_alternative<FusedLinear>(op) || std::holds_alternative<GatedFfn>(op);
  return any ? 1 : 0;
}

/// Rows come in twos, and in as many as there are parts whose rows alternate.
uint64_t row_step(const Weight& weight, uint64_t together) {
  const uint64_t parts = weight.order == RowOrder::kInterleave ? weight.parts.size() : 1;
  return std::lcm(std::lcm(parts, together), uint64_t{2});
}

/// cut_rows() of a matrix of one type.
std::vector<Shard> cut_alike(const TensorDesc& matrix, uint64_t limit, uint64_t together) {
  const uint64_t rows = uint64_t(matrix.shape[0]), columns = uint64_t(matrix.shape[1]);
  uint64_t step = row_step(std::get<Weight>(matrix.recipe), together);
  const auto fits = [&](uint64_t count) {
    return round_up<uint64_t>(matrix_bytes(matrix.dtype, count, columns), 16) <= limit;
  };
  if (fits(rows) || !fits(step)) return {};
  // No two parts share a block of argmax, where one fits.
  const uint64_t blocks = std::lcm(step, uint64_t{kArgmaxBlock});
  if (fits(blocks)) step = blocks;
  // The most steps that fit in a buffer, by halving.
  uint64_t most = 1, too_many = ceil_div(rows, step);
  while (too_many - most > 1) {
    const uint64_t middle = most + (too_many - most) / 2;
    (fits(middle * step) ? most : too_many) = middle;
  }
  const uint64_t count = ceil_div(rows, most * step);
  const uint64_t length = round_up(ceil_div(rows, count), step);
  std::vector<Shard> shards;
  for (uint64_t first = 0; first < rows; first += length) {
    const uint32_t own = uint32_t(std::min(length, rows - first));
    shards.push_back({.tensor = row_range(matrix, uint32_t(first), own),
                      .cut = {uint32_t(first), uint32_t(rows)},
                      .buffer = {}});
  }
  return shards;
}

}  // namespace

uint64_t rows_together(const Graph& graph, ValueId id) {
  const TensorDesc& tensor = graph.at(id);
  if (!std::holds_alternative<Weight>(tensor.recipe) || tensor.shape.size() != 2) return 0;
  uint64_t together = 1;
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != id) continue;
      const uint64_t own = i == 1 ? rows_of_part(node.op, tensor) : 0;
      if (own == 0) return 0;
      together = std::lcm(together, own);
    }
  }
  return together;
}

std::vector<Shard> cut_rows(const TensorDesc& matrix, uint64_t limit, uint64_t together) {
  const std::vector<uint32_t> bounds = type_bounds(matrix);
  if (bounds.size() == 2) return cut_alike(matrix, limit, together);
  std::vector<Shard> shards;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    const TensorDesc rows = row_range(matrix, bounds[i], bounds[i + 1] - bounds[i]);
    std::vector<Shard> parts = cut_alike(rows, limit, together);
    if (parts.empty()) parts.push_back({.tensor = rows, .cut = {}, .buffer = {}});
    for (Shard& part : parts) {
      part.cut = {bounds[i] + part.cut.first, bounds.back()};
      shards.push_back(std::move(part));
    }
  }
  return shards;
}

}  // namespace tokamak
