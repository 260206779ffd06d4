#include "model/model_builder.h"

#include <algorithm>

#include "base/bits.h"

namespace tokamak {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const Dim dim : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", dim);
  return "[" + text + "]";
}

/// Names of values are words of the text form: anything else becomes '_'.
std::string value_name(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '/';
    if (!plain) c = '_';
  }
  return text;
}

}  // namespace

ModelBuilder::ModelBuilder(const TensorFile& file, const BuildOptions& options, std::string prefix)
    : file_(file), options_(options), prefix_(std::move(prefix)) {}

bool ModelBuilder::has(std::string_view name) const {
  return file_.find(prefix_ + std::string(name)) != nullptr;
}

/// "lm_head.weight" stands beside "model.", whatever comes before that.
std::string ModelBuilder::full_name(std::string_view name) const {
  constexpr std::string_view kModel = "model.";
  std::string prefix = prefix_;
  if (name.starts_with("lm_head.") && prefix.ends_with(kModel)) {
    prefix.resize(prefix.size() - kModel.size());
  }
  return prefix + std::string(name);
}

DType ModelBuilder::stored_dtype(const std::string& full, const Shape& shape) {
  const TensorInfo* info = file_.find(full);
  if (info == nullptr) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("The checkpoint has no tensor \"{}\"; the config asks for one of shape {}.",
                        full, shape_text(shape))});
  } else if (!std::equal(shape.begin(), shape.end(), info->shape.begin(), info->shape.end(),
                         [](Dim a, uint64_t b) { return uint64_t(a) == b; })) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("{}: tensor \"{}\" is {}, expected {} as config.json says.",
                        file_.file_name(*info), full, describe(*info), shape_text(shape))});
  } else if (!is_float_weight(info->dtype)) {
    reject({ErrorCode::kUnsupported,
            fmt::format("{}: tensor \"{}\" has element type {}, expected f32, f16 or bf16.",
                        file_.file_name(*info), full, dtype_name(info->dtype))});
  } else {
    return info->dtype;
  }
  return DType::kBF16;
}

ValueId ModelBuilder::matrix(std::string_view name, uint32_t rows, uint32_t columns) {
  return matrix(name, Rows{0, rows, rows}, columns);
}

ValueId ModelBuilder::matrix(std::string_view name, Rows rows, uint32_t columns) {
  const bool whole = rows.count == rows.of;
  std::string key(name);
  if (!whole) key += fmt::format(".{}-{}", rows.first, rows.first + rows.count);
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  const std::string full = full_name(name);
  const DType dtype = stored_dtype(full, {rows.of, columns});
  const WeightPart part = whole ? WeightPart(full) : WeightPart(full, rows.first, rows.count);
  const ValueId id = constant(value_name(key), {rows.count, columns}, dtype, Weight{{part}});
  made_.emplace(std::move(key), id);
  return id;
}

ValueId ModelBuilder::vector(std::string_view name, uint32_t size, bool add_one) {
  if (const auto found = made_.find(name); found != made_.end()) return found->second;
  const std::string full = full_name(name);
  stored_dtype(full, {size});
  const ValueId id =
      constant(value_name(name), {size}, DType::kF32, Weight{{full}, RowOrder::kPlain, add_one});
  made_.emplace(name, id);
  return id;
}

ValueId ModelBuilder::projection(ValueId x, std::string_view name, uint32_t rows, bool bias) {
  const uint32_t columns = uint32_t(at(x).shape[1]);
  const ValueId w = matrix(fmt::format("{}.weight", name), rows, columns);
  if (!bias) return linear(x, w);
  return linear(x, w, vector(fmt::format("{}.bias", name), rows));
}

ValueId ModelBuilder::projection(ValueId x, std::string_view name, Rows rows) {
  const uint32_t columns = uint32_t(at(x).shape[1]);
  return linear(x, matrix(fmt::format("{}.weight", name), rows, columns));
}

ValueId ModelBuilder::token_ids() {
  if (!tokens_) tokens_ = input("tokens", {kTokens});
  return *tokens_;
}

ValueId ModelBuilder::rotate(ValueId x, uint32_t head_dim, const RopeTable& recipe,
                             std::string_view name) {
  // A session that never gets long needs no second part.
  const uint32_t short_rows = recipe.short_rows < options_.context ? recipe.short_rows : 0;
  auto found = made_.find(name);
  if (found == made_.end()) {
    RopeTable table = recipe;
    if (short_rows != recipe.short_rows) {
      table = {.inverse_frequencies = recipe.short_frequencies, .factor = recipe.factor};
    }
    const Dim columns = Dim(table.inverse_frequencies.size()) * 2;
    const ValueId id = constant(std::string(name), {Dim{short_rows} + options_.context, columns},
                                DType::kF32, std::move(table));
    found = made_.emplace(name, id).first;
  }
  return rope(x, found->second, head_dim, short_rows);
}

ValueId ModelBuilder::cached_attention(uint32_t layer, ValueId q, ValueId k, ValueId v,
                                       uint32_t kv_heads, uint32_t head_dim,
                                       const Attention& attributes) {
  const uint32_t pages = ceil_div(options_.context, kPageTokens);
  // A window layer's pages recur; a step writes all its tokens before any of them attends, so the
  // cache holds a window and a chunk.
  const uint32_t own_pages =
      attributes.window == 0
          ? pages
          : std::min(pages, ceil_div(attributes.window + options_.chunk, kPageTokens));
  const uint32_t window = own_pages == pages ? 0 : attributes.window;
  const std::string table = window == 0 ? "pages" : fmt::format("pages.{}", window);
  auto found = made_.find(table);
  if (found == made_.end()) {
    found = made_.emplace(table, input(table, {Dim(pages)}, window)).first;
  }
  const ValueId cache =
      state(fmt::format("kv.{}", layer), {Dim(own_pages) * kPageTokens, 2, kv_heads, head_dim},
            options_.kv_dtype, window);
  const ValueId appended = kv_append(k, v, cache, found->second);
  return attention(q, appended, found->second, attributes);
}

}  // namespace tokamak
