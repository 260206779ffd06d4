// The part of ModelBuilder that mixtures of experts use.
#include <algorithm>

#include "formats/wishes.h"
#include "model/model_builder.h"

namespace tokamak {
namespace {

/// The name of a value that has those rows of each matrix.
std::string rows_name(std::string_view name, const ModelBuilder::Rows& rows) {
  if (rows.count == rows.of) return std::string(name);
  return fmt::format("{}.{}-{}", name, rows.first, rows.first + rows.count);
}

/// Those rows of each of `count` matrices that are one tensor.
Weight rows_of_each(const std::string& tensor, uint32_t count, const ModelBuilder::Rows& rows) {
  if (rows.count == rows.of && !rows.alternate) {
    WeightPart whole(tensor);
    whole.transposed = rows.transposed;
    return Weight{{std::move(whole)}};
  }
  Weight weight{.parts = {}, .order = RowOrder::kConcat};
  for (uint32_t i = 0; i < count; ++i) {
    WeightPart part(tensor, i * rows.of + rows.first, rows.count);
    if (rows.alternate) part.rope_heads = count;
    part.transposed = rows.transposed;
    weight.parts.push_back(std::move(part));
  }
  return weight;
}

}  // namespace

ValueId ModelBuilder::stacked(std::string_view name, uint32_t count, Rows rows, uint32_t columns) {
  const std::string full = full_name(name);
  const TensorInfo* info = find_or_wish(file_, full, {count, rows.of, columns});
  const Located own_rows = located(full, count * rows.of, columns);
  if (info != nullptr && (info->shape.size() != 3 || info->shape[0] != count)) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("{}: tensor \"{}\" is {}, expected [{}, {}, {}] as config.json says.",
                        file_.file_name(*info), full, describe(*info), count, rows.of, columns)});
  }
  const ValueId id = constant(rows_name(name, rows), {Dim{count} * rows.count, columns},
                              own_rows.dtype, rows_of_each(full, count, rows));
  return in_own_order(full, {id, column_order(own_rows.groups, columns)});
}

bool ModelBuilder::has_transposed(std::string_view name, uint32_t columns) const {
  const TensorInfo* info = file_.find(full_name(name));
  return info != nullptr && is_transposed(*info, columns);
}

ValueId ModelBuilder::stacked_biases(std::string_view name, uint32_t count, Rows rows) {
  const std::string full = full_name(name);
  stored_floats(full, count, rows.of);
  return constant(rows_name(name, rows), {Dim{count} * rows.count}, DType::kF32,
                  rows_of_each(full, count, rows));
}

ValueId ModelBuilder::expert_projection(ValueId x, std::string_view name,
                                        const std::vector<Piece>& pieces, uint32_t columns,
                                        ValueId chosen, std::optional<ValueId> bias) {
  const uint32_t experts = uint32_t(pieces.size());
  const Joined all = join(name, pieces, columns);
  if (std::ranges::count(all.groups, nullptr) != std::ssize(all.groups)) {
    const ValueId order =
        column_order(fmt::format("{}.order", name), all.groups, {Dim{experts}, columns});
    const auto [found, is_new] = gathered_.try_emplace({x, order});
    if (is_new) found->second = expert_columns(x, order, chosen);
    x = found->second;
  }
  std::vector<ValueId> inputs = {x, all.matrix, chosen};
  if (bias) inputs.push_back(*bias);
  return add_node(ExpertLinear{experts}, std::move(inputs)).front();
}

}  // namespace tokamak
