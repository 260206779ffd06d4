// The part of ModelBuilder that layers with a convolution use.
#include "formats/wishes.h"
#include "model/model_builder.h"

namespace tokamak {

ValueId ModelBuilder::convolution(uint32_t layer, ValueId x, std::string_view name, uint32_t taps,
                                  Activation activation, bool bias,
                                  const std::vector<Factor>& factors) {
  const uint32_t columns = uint32_t(at(x).shape[1]);
  const std::string full = full_name(fmt::format("{}.weight", name));
  const TensorInfo* info = find_or_wish(file_, full, {columns, 1, taps});
  if (info == nullptr) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("The checkpoint has no tensor \"{}\"; the config asks for one of shape "
                        "[{}, 1, {}].",
                        full, columns, taps)});
  } else if (!is_float_weight(info->dtype) || info->shape.size() < 2 ||
             info->shape.front() != columns || info->elements() != uint64_t{columns} * taps) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("{}: tensor \"{}\" is {}, expected [{}, 1, {}] of f32, f16 or bf16 as "
                        "config.json says.",
                        file_.file_name(*info), full, describe(*info), columns, taps)});
  }
  Weight weight{{full}};
  if (!factors.empty()) weight = {.parts = {}, .order = RowOrder::kConcat};
  uint32_t row = 0;
  for (const Factor& one : factors) {
    weight.parts.emplace_back(full, row, one.rows).factor = one.value;
    row += one.rows;
  }
  const ValueId w = constant(full, {columns, taps}, DType::kF32, std::move(weight));
  const ValueId rows = recurrent(fmt::format("conv.{}", layer), {Dim{taps} - 1, columns});
  if (!bias) return short_conv(x, w, rows, activation);
  return short_conv(x, w, rows, activation, vector(fmt::format("{}.bias", name), columns));
}

}  // namespace tokamak
