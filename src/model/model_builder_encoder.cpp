// The part of ModelBuilder that encoders and models of speech use.
#include "base/input_names.h"
#include "formats/wishes.h"
#include "model/model_builder.h"

namespace tokamak {

ValueId ModelBuilder::normed(ValueId x, std::string_view name, float eps, bool bias) {
  const uint32_t size = uint32_t(at(x).shape[1]);
  const ValueId w = vector(fmt::format("{}.weight", name), size);
  if (!bias) return layer_norm(x, w, eps);
  return layer_norm(x, w, eps, vector(fmt::format("{}.bias", name), size));
}

const TensorInfo* ModelBuilder::stored_floats(const std::string& full, uint32_t rows,
                                              uint32_t columns) {
  const std::vector<uint64_t> shape = {rows, columns};
  const TensorInfo* info = find_or_wish(file_, full, shape);
  if (info != nullptr && info->shape == shape && is_float_weight(info->dtype)) return info;
  reject({ErrorCode::kInvalidInput,
          fmt::format("The checkpoint has {} \"{}\"{}; the config asks for [{}, {}] of f32, f16 or "
                      "bf16.",
                      info == nullptr ? "no tensor" : "the tensor", full,
                      info == nullptr ? "" : " as " + describe(*info), rows, columns)});
  return nullptr;
}

ValueId ModelBuilder::with_positions(ValueId x, std::string_view name, uint32_t rows,
                                     uint32_t offset) {
  const uint32_t columns = uint32_t(at(x).shape[1]);
  const std::string full = full_name(name);
  const TensorInfo* info = stored_floats(full, rows, columns);
  const ValueId table = constant(std::string(name), {rows, columns},
                                 info != nullptr ? info->dtype : DType::kF32, Weight{{full}});
  return add_positions(x, table, offset);
}

ValueId ModelBuilder::listed_rows(std::string_view key, std::string_view name, uint32_t of,
                                  uint32_t columns, const std::vector<uint32_t>& rows) {
  const std::string full = full_name(name);
  stored_floats(full, of, columns);
  Weight weight{.parts = {}, .order = RowOrder::kConcat};
  for (const uint32_t row : rows) weight.parts.emplace_back(full, row, 1);
  return constant(std::string(key), {Dim(rows.size()), columns}, DType::kF32, std::move(weight));
}

ValueId ModelBuilder::pairs_projection(ValueId x, std::string_view name, uint32_t rows,
                                       uint32_t heads) {
  const uint32_t columns = uint32_t(at(x).shape[1]);
  WeightPart part(full_name(fmt::format("{}.weight", name)));
  const Located own = located(part.name, rows, columns);
  part.rope_heads = heads;
  const std::string key = part.name;
  const ValueId w = constant(key, {rows, columns}, own.dtype, Weight{{std::move(part)}});
  return linear(x, in_own_order(key, {w, column_order(own.groups, columns)}));
}

ValueId ModelBuilder::token_types() {
  const auto [found, is_new] = made_.try_emplace(std::string(kTokenTypes));
  if (is_new) found->second = input(std::string(kTokenTypes), {kTokens});
  return found->second;
}

}  // namespace tokamak
