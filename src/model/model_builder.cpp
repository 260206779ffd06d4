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

ValueId ModelBuilder::weight(std::string_view name, Shape shape, DType dtype, bool keep_dtype,
                             bool add_one) {
  if (const auto found = made_.find(name); found != made_.end()) return found->second;
  // "lm_head.weight" stands beside "model.", whatever comes before that.
  std::string full = prefix_ + std::string(name);
  if (name.starts_with("lm_head.") && prefix_.ends_with("model.")) {
    full = prefix_.substr(0, prefix_.size() - 6) + std::string(name);
  }
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
  } else if (keep_dtype) {
    dtype = info->dtype;
  }
  const ValueId id = constant(value_name(name), std::move(shape), dtype,
                              Weight{{full}, RowOrder::kPlain, add_one});
  made_.emplace(name, id);
  return id;
}

ValueId ModelBuilder::matrix(std::string_view name, uint32_t rows, uint32_t columns) {
  return weight(name, {rows, columns}, DType::kBF16, true, false);
}

ValueId ModelBuilder::vector(std::string_view name, uint32_t size, bool add_one) {
  return weight(name, {size}, DType::kF32, false, add_one);
}

ValueId ModelBuilder::projection(ValueId x, std::string_view name, uint32_t rows, bool bias) {
  const uint32_t columns = uint32_t(at(x).shape[1]);
  const ValueId w = matrix(fmt::format("{}.weight", name), rows, columns);
  if (!bias) return linear(x, w);
  return linear(x, w, vector(fmt::format("{}.bias", name), rows));
}

ValueId ModelBuilder::token_ids() {
  if (!tokens_) tokens_ = input("tokens", {kTokens});
  return *tokens_;
}

ValueId ModelBuilder::rotate(ValueId x, uint32_t head_dim, const RopeTable& table,
                             std::string_view name) {
  auto found = made_.find(name);
  if (found == made_.end()) {
    const Dim columns = Dim(table.inverse_frequencies.size()) * 2;
    const ValueId id =
        constant(std::string(name), {Dim(options_.context), columns}, DType::kF32, table);
    found = made_.emplace(name, id).first;
  }
  return rope(x, found->second, head_dim);
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
          : std::min(pages, ceil_div(attributes.window + options_.chunk, kPageTokens) + 1);
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
