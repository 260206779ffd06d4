#include "graph/row_range.h"

#include <algorithm>

#include "base/check.h"
#include "base/packing.h"

namespace tokamak {
namespace {

WeightPart cut(WeightPart part, uint32_t first, uint32_t count) {
  TOK_CHECK(part.zeros == 0);  // before ranks are told apart
  (part.cut.is_whole() ? part.first_row : part.cut_row) += first;
  part.rows = count;
  return part;
}

/// Parts of one type need not say it: their matrix does.
void settle_type(TensorDesc& matrix) {
  std::vector<WeightPart>& parts = std::get<Weight>(matrix.recipe).parts;
  const std::optional<DType> type = parts.front().dtype;
  const auto same = [&](const WeightPart& part) { return part.dtype == type; };
  if (!type || !std::ranges::all_of(parts, same)) return;
  matrix.dtype = *type;
  for (WeightPart& part : parts) part.dtype.reset();
}

}  // namespace

TensorDesc row_range(const TensorDesc& matrix, uint32_t first, uint32_t count) {
  const auto* weight = std::get_if<Weight>(&matrix.recipe);
  TOK_CHECK(weight != nullptr && matrix.shape.size() == 2 && count > 0);
  const uint32_t rows = uint32_t(matrix.shape[0]), parts = uint32_t(weight->parts.size());
  TOK_CHECK(uint64_t{first} + count <= rows);
  TensorDesc range = matrix;
  range.name += fmt::format("/{}", first);
  range.shape[0] = count;
  std::vector<WeightPart>& kept = std::get<Weight>(range.recipe).parts;
  kept.clear();
  if (weight->order == RowOrder::kInterleave) {
    TOK_CHECK(first % parts == 0 && count % parts == 0);
    for (const WeightPart& part : weight->parts) {
      kept.push_back(cut(part, first / parts, count / parts));
    }
    return range;
  }
  uint32_t begin = 0;
  for (const WeightPart& part : weight->parts) {
    const uint32_t end = begin + (part.rows != 0 ? part.rows : rows / parts);
    const uint32_t from = std::max(first, begin), to = std::min(first + count, end);
    if (from < to) kept.push_back(cut(part, from - begin, to - from));
    begin = end;
  }
  TOK_CHECK(begin == rows);
  settle_type(range);
  return range;
}

std::vector<uint32_t> type_bounds(const TensorDesc& matrix) {
  const auto& parts = std::get<Weight>(matrix.recipe).parts;
  std::vector<uint32_t> bounds = {0};
  uint32_t row = 0;
  for (size_t i = 1; i < parts.size(); ++i) {
    row += parts[i - 1].rows;
    if (parts[i].dtype != parts[i - 1].dtype) bounds.push_back(row);
  }
  bounds.push_back(uint32_t(matrix.shape[0]));
  return bounds;
}

uint64_t stored_bytes(const TensorDesc& constant) {
  const auto* weight = std::get_if<Weight>(&constant.recipe);
  // Either all parts have a type of their own or none has.
  if (weight == nullptr || !weight->parts.front().dtype) return byte_count(constant, 1);
  uint64_t bytes = 0;
  for (const WeightPart& part : weight->parts) {
    bytes += matrix_bytes(*part.dtype, part.rows, uint64_t(constant.shape[1]));
  }
  return bytes;
}

}  // namespace tokamak
