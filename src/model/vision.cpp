#include "model/vision.h"

#include "base/bits.h"
#include "formats/wishes.h"

namespace tokamak {

VisionBuilder::VisionBuilder(const TensorFile& file, std::string prefix, uint32_t patches,
                             DType kv_dtype)
    : ModelBuilder(file, {.context = patches, .chunk = patches}, prefix),
      patches_(patches),
      kv_dtype_(kv_dtype),
      prefix_(std::move(prefix)) {}

ValueId VisionBuilder::embedded_patches(std::string_view name, uint32_t rows, uint32_t columns,
                                        bool bias) {
  if (!pixels_) pixels_ = row_input(std::string(kPatchPixels), columns);
  const ValueId pixels = *pixels_;
  if (!bias) return linear(pixels, flat_matrix(fmt::format("{}.weight", name), rows, columns));
  return linear(pixels, flat_matrix(fmt::format("{}.weight", name), rows, columns),
                vector(fmt::format("{}.bias", name), rows));
}

ValueId VisionBuilder::averaged(uint32_t count, uint32_t size) {
  const ValueId x = row_input(std::string(kUnmerged), count * size);
  ValueId sum = columns(x, 0, size);
  for (uint32_t i = 1; i < count; ++i) {
    const ValueId other = columns(x, i * size, size);
    sum = add(sum, other);
  }
  return scale(sum, 1 / float(count));
}

ValueId VisionBuilder::with_positions(ValueId x) {
  const ValueId rows = row_input(std::string(kPatchPositions), uint32_t(at(x).shape[1]));
  return add(x, rows);
}

ValueId VisionBuilder::norm(ValueId x, std::string_view name, float eps) {
  const auto columns = uint32_t(at(x).shape[1]);
  const ValueId w = vector(fmt::format("{}.weight", name), columns);
  return layer_norm(x, w, eps, vector(fmt::format("{}.bias", name), columns));
}

ValueId VisionBuilder::turned(ValueId x, uint32_t head_dim) {
  if (!angles_) angles_ = row_input(std::string(kAngles), head_dim);
  return rope(x, *angles_, head_dim);
}

ValueId VisionBuilder::attention_both_ways(ValueId q, ValueId k, ValueId v, uint32_t head_dim,
                                           float scale, bool in_windows) {
  const uint32_t pages = ceil_div(patches_, kPageTokens);
  if (!cache_) {
    // One for all layers: nothing reads a layer's keys after it.
    const auto heads = uint32_t(at(k).shape[1]) / head_dim;
    const ValueId table = input("pages", {pages});
    cache_ = Cache{kv_cache("kv", kv_dtype_, Dim{pages} * kPageTokens, heads, head_dim), table};
  }
  Cache& cache = *cache_;
  cache.cells = kv_append(k, v, cache.cells, cache.pages);
  if (in_windows && !spans_) spans_ = input(std::string(kPatchSpans), {kTokens, 2});
  return attention(q, cache.cells, cache.pages, {.scale = scale, .causal = false},
                   in_windows ? spans_ : std::nullopt);
}

Result<TensorDesc> position_table(const TensorFile& file, const std::string& name, uint32_t rows,
                                  uint32_t columns) {
  const TensorInfo* info = find_or_wish(file, name, {rows, columns});
  if (info == nullptr) return invalid_input("The checkpoint has no tensor \"{}\".", name);
  if (info->elements() != uint64_t{rows} * columns) {
    return invalid_input("{}: tensor \"{}\" is {}, expected [{}, {}] as config.json says.",
                         file.file_name(*info), name, describe(*info), rows, columns);
  }
  // A vector, since these are widened to f32.
  return TensorDesc{.name = name,
                    .shape = {Dim{rows} * columns},
                    .dtype = DType::kF32,
                    .storage = Storage::kConstant,
                    .recipe = Weight{{name}}};
}

}  // namespace tokamak
