#include "model/model_builder.h"

#include <algorithm>
#include <ranges>

#include "base/bits.h"
#include "base/check.h"
#include "base/packing.h"
#include "formats/wishes.h"
#include "graph/kv_cache.h"

namespace tokamak {
namespace {

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
  const std::string full = full_name(name);
  // gpt-oss has blocks of numbers beside their scales.
  if (offers(file_, full) || offers(file_, full + "_blocks")) return true;
  // GPTQ's name for the matrix.
  return full.ends_with(".weight") && offers(file_, full.substr(0, full.rfind('.')) + ".qweight");
}

/// "lm_head.weight" stands beside "model.", whatever comes before or after that.
std::string ModelBuilder::full_name(std::string_view name) const {
  if (name.starts_with('/')) return std::string(name.substr(1));
  if (name.find('/') != std::string_view::npos) return std::string(name);
  std::string prefix = prefix_;
  if (name.starts_with("lm_head.")) {
    const size_t model = prefix.starts_with("model.") ? 0 : prefix.find(".model.") + 1;
    prefix.resize(model);
  }
  return prefix + std::string(name);
}

const TensorInfo* ModelBuilder::stored_vector(const std::string& full, uint32_t size) {
  const TensorInfo* info = find_or_wish(file_, full, {size});
  if (info == nullptr) {
    reject(
        {ErrorCode::kInvalidInput,
         fmt::format("The checkpoint has no tensor \"{}\"; the config asks for one of shape [{}].",
                     full, size)});
  } else if (info->shape.empty() || info->shape.back() != size || info->elements() != size) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("{}: tensor \"{}\" is {}, expected [{}] as config.json says.",
                        file_.file_name(*info), full, describe(*info), size)});
  } else if (!is_float_weight(info->dtype)) {
    reject({ErrorCode::kUnsupported,
            fmt::format("{}: tensor \"{}\" has element type {}, expected f32, f16 or bf16.",
                        file_.file_name(*info), full, dtype_name(info->dtype))});
  } else {
    return info;
  }
  return nullptr;
}

Result<DType> ModelBuilder::device_dtype(const StoredMatrix& stored) const {
  if (!options_.quantize) return stored.dtype;
  if (is_packed(stored.dtype)) {
    return fail(ErrorCode::kUsage,
                "quantize is for checkpoints of floats, and tensor \"{}\" is packed as {} already.",
                stored.weight->name, dtype_name(stored.dtype));
  }
  const bool fits = stored.columns % weight_format(*options_.quantize).row_unit() == 0;
  return fits ? *options_.quantize : stored.dtype;
}

ModelBuilder::Located ModelBuilder::located(const std::string& full, uint32_t rows,
                                            uint32_t columns) {
  const auto stored = locate(file_, full, rows, columns, options_.quantization);
  if (!stored) {
    reject(stored.error());
    return {};
  }
  const auto wanted = device_dtype(*stored);
  if (!wanted) {
    reject(wanted.error());
    return {};
  }
  return {*wanted, stored->weight->rope_heads, stored->weight->turned, stored->weight->transposed,
          stored->groups};
}

ModelBuilder::Ordered ModelBuilder::ordered_matrix(std::string_view name, Rows rows,
                                                   uint32_t columns) {
  const bool whole = rows.count == rows.of;
  std::string key(name);
  if (!whole) key += fmt::format(".{}-{}", rows.first, rows.first + rows.count);
  if (const auto found = made_.find(key); found != made_.end()) {
    const auto order = order_of_.find(found->second);
    if (order == order_of_.end()) return {found->second, std::nullopt};
    return {found->second, order->second};
  }
  const std::string full = full_name(name);
  WeightPart part = whole ? WeightPart(full) : WeightPart(full, rows.first, rows.count);
  const Located own = located(full, rows.of, columns);
  part.rope_heads = own.rope_heads;
  part.turned = own.turned;
  part.transposed = own.transposed;
  const ValueId id =
      constant(value_name(key), {rows.count, columns}, own.dtype, Weight{{std::move(part)}});
  made_.emplace(std::move(key), id);
  const std::optional<ValueId> order = column_order(own.groups, columns);
  if (order) order_of_.emplace(id, *order);
  return {id, order};
}

bool ModelBuilder::same_groups(const Groups& a, const Groups& b) const {
  return std::ranges::equal(a, b, [&](const TensorInfo* left, const TensorInfo* right) {
    if (left == right) return true;
    if (left == nullptr || right == nullptr) return false;
    const auto x = file_.data(*left), y = file_.data(*right);
    return x && y && std::ranges::equal(*x, *y);
  });
}

ValueId ModelBuilder::column_order(std::string_view name, const Groups& groups, Shape shape) {
  constexpr size_t kNeighbours = 4;  // what reads one input is built together
  for (const Order& known : orders_ | std::views::reverse | std::views::take(kNeighbours)) {
    if (known.shape == shape && same_groups(known.groups, groups)) return known.constant;
  }
  ColumnOrder recipe;
  for (const TensorInfo* one : groups) recipe.groups.push_back(one != nullptr ? one->name : "");
  const ValueId id = constant(value_name(name), shape, DType::kU32, std::move(recipe));
  orders_.push_back({groups, std::move(shape), id});
  return id;
}

std::optional<ValueId> ModelBuilder::column_order(const TensorInfo* groups, uint32_t columns) {
  if (groups == nullptr) return std::nullopt;
  return column_order(groups->name, {groups}, {columns});
}

ValueId ModelBuilder::in_order_of(ValueId x, const Ordered& w) {
  if (!w.order) return x;
  const std::pair key(x, *w.order);
  if (const auto found = gathered_.find(key); found != gathered_.end()) return found->second;
  const ValueId gathered = gather_columns(x, *w.order);
  gathered_.emplace(key, gathered);
  return gathered;
}

ValueId ModelBuilder::matrix(std::string_view name, uint32_t rows, uint32_t columns) {
  return matrix(name, Rows{0, rows, rows}, columns);
}

ValueId ModelBuilder::matrix(std::string_view name, Rows rows, uint32_t columns) {
  return in_own_order(full_name(name), ordered_matrix(name, rows, columns));
}

ValueId ModelBuilder::in_own_order(std::string_view name, const Ordered& w) {
  if (w.order) {
    reject({ErrorCode::kUnsupported,
            fmt::format("\"{}\" has its columns in the order of \"{}\"; this engine reads such a "
                        "matrix where it multiplies activations of a layer only.",
                        name, at(*w.order).name)});
  }
  return w.matrix;
}

ValueId ModelBuilder::vector(std::string_view name, Rows rows) {
  if (rows.count == rows.of) return vector(name, rows.of);
  WeightPart part(full_name(name), rows.first, rows.count);
  if (const TensorInfo* info = stored_vector(part.name, rows.of)) {
    part.rope_heads = info->rope_heads;
  }
  const std::string key = fmt::format("{}.{}-{}", name, rows.first, rows.first + rows.count);
  return constant(value_name(key), {rows.count}, DType::kF32, Weight{{std::move(part)}});
}

ValueId ModelBuilder::vectors(std::string_view name, const std::vector<std::string>& tensors,
                              uint32_t size) {
  Weight weight{.parts = {}, .order = RowOrder::kConcat};
  for (const std::string& tensor : tensors) {
    weight.parts.emplace_back(full_name(tensor), 0, 1);
    stored_vector(weight.parts.back().name, size);
  }
  return constant(value_name(name), {Dim(tensors.size()), size}, DType::kF32, std::move(weight));
}

ModelBuilder::Joined ModelBuilder::join(std::string_view name, const std::vector<Piece>& pieces,
                                        uint32_t columns) {
  Weight weight{.parts = {}, .order = RowOrder::kConcat};
  Groups groups;
  uint32_t rows = 0;
  std::optional<Located> first;
  for (const Piece& piece : pieces) {
    WeightPart part(full_name(piece.tensor), piece.rows.first, piece.rows.count);
    const Located own = located(part.name, piece.rows.of, columns);
    if (!first) first = own;
    if (own.dtype != first->dtype) {
      reject({ErrorCode::kUnsupported,
              fmt::format("Tensors \"{}\" and \"{}\" have element types {} and {}; this engine "
                          "joins their rows and needs one type.",
                          weight.parts[0].name, part.name, dtype_name(first->dtype),
                          dtype_name(own.dtype))});
    }
    groups.push_back(own.groups);
    part.rope_heads = own.rope_heads;
    part.turned = own.turned;
    part.transposed = own.transposed;
    rows += piece.rows.count;
    weight.parts.push_back(std::move(part));
  }
  if (!first) {  // whoever collected the pieces stopped at a mistake
    TOK_CHECK(!ok());
    first = Located();
    rows = 1;
  }
  return {constant(value_name(name), {rows, columns}, first->dtype, std::move(weight)),
          std::move(groups)};
}

ModelBuilder::Ordered ModelBuilder::joined(std::string_view name, const std::vector<Piece>& pieces,
                                           uint32_t columns) {
  const Joined all = join(name, pieces, columns);
  if (all.groups.empty()) return {all.matrix, std::nullopt};
  for (size_t i = 1; i < all.groups.size(); ++i) {
    if (same_groups({all.groups[0]}, {all.groups[i]})) continue;
    reject({ErrorCode::kUnsupported,
            fmt::format("Tensors \"{}\" and \"{}\" have their columns in different orders; this "
                        "engine joins their rows and needs one order.",
                        full_name(pieces[0].tensor), full_name(pieces[i].tensor))});
  }
  return {all.matrix, column_order(all.groups[0], columns)};
}

ValueId ModelBuilder::flat_matrix(std::string_view name, uint32_t rows, uint32_t columns) {
  const std::string full = full_name(name);
  const TensorInfo* info = find_or_wish(file_, full, {rows, columns});
  DType dtype = DType::kF32;
  if (info == nullptr) {
    reject({ErrorCode::kInvalidInput,
            fmt::format(
                "The checkpoint has no tensor \"{}\"; the config asks for one of {} rows of {}.",
                full, rows, columns)});
  } else if (!is_float_weight(info->dtype) || info->elements() != uint64_t{rows} * columns ||
             (info->shape.size() > 2 && info->shape.front() != rows)) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("{}: tensor \"{}\" is {}, expected {} rows of {} in f32, f16 or bf16 as "
                        "config.json says.",
                        file_.file_name(*info), full, describe(*info), rows, columns)});
  } else {
    dtype = info->dtype;
  }
  return constant(value_name(full), {rows, columns}, dtype, Weight{{full}});
}

ValueId ModelBuilder::table_row(std::string_view name, uint32_t row, uint32_t columns) {
  const std::string full = full_name(name);
  const TensorInfo* info = find_or_wish(file_, full, {row + 1, columns});
  if (info == nullptr || !is_float_weight(info->dtype)) {
    reject({ErrorCode::kUnsupported,
            fmt::format("Tensor \"{}\" is missing or packed; images need it in floats.", full)});
  }
  return constant(fmt::format("{}.{}", value_name(full), row), {1, columns}, DType::kF32,
                  Weight{{WeightPart(full, row, 1)}});
}

ValueId ModelBuilder::pieces_of_vector(std::string_view name, std::string_view tensor,
                                       const std::vector<Rows>& pieces) {
  Weight weight{.parts = {}, .order = RowOrder::kConcat};
  uint32_t size = 0;
  for (const Rows& piece : pieces) {
    weight.parts.emplace_back(full_name(tensor), piece.first, piece.count);
    stored_vector(weight.parts.back().name, piece.of);
    size += piece.count;
  }
  return constant(value_name(name), {size}, DType::kF32, std::move(weight));
}

ValueId ModelBuilder::vector(std::string_view name, uint32_t size, bool add_one, float factor) {
  if (const auto found = made_.find(name); found != made_.end()) return found->second;
  const std::string full = full_name(name);
  WeightPart part(full);
  part.factor = factor;
  if (const TensorInfo* info = stored_vector(full, size)) {
    part.rope_heads = info->rope_heads;
    add_one = add_one && !info->raised;
  }
  const ValueId id = constant(value_name(name), {size}, DType::kF32,
                              Weight{{std::move(part)}, RowOrder::kPlain, add_one});
  made_.emplace(name, id);
  return id;
}

ValueId ModelBuilder::filled(float value, uint32_t size) {
  const std::string name =
      value == 1 ? fmt::format("ones.{}", size) : fmt::format("fill.{}.{}", value, size);
  auto found = made_.find(name);
  if (found == made_.end()) {
    found = made_.emplace(name, constant(name, {size}, DType::kF32, Fill{value})).first;
  }
  return found->second;
}

ValueId ModelBuilder::plain_norm(ValueId x, uint32_t size, float eps) {
  return rms_norm(x, filled(1, size), eps);
}

ValueId ModelBuilder::projection(ValueId x, std::string_view name, uint32_t rows, bool bias) {
  return projection(x, name, Rows{0, rows, rows}, bias);
}

ValueId ModelBuilder::projection(ValueId x, std::string_view name, Rows rows, bool bias) {
  const uint32_t columns = uint32_t(at(x).shape[1]);
  const Ordered w = ordered_matrix(fmt::format("{}.weight", name), rows, columns);
  const ValueId input = in_order_of(x, w);
  if (!bias) return linear(input, w.matrix);
  return linear(input, w.matrix, vector(fmt::format("{}.bias", name), rows));
}

ValueId ModelBuilder::projection(ValueId x, std::string_view name, const std::vector<Piece>& pieces,
                                 std::optional<ValueId> bias) {
  const Ordered w = joined(name, pieces, uint32_t(at(x).shape[1]));
  return linear(in_order_of(x, w), w.matrix, bias);
}

ValueId ModelBuilder::token_ids() {
  if (!tokens_) tokens_ = input("tokens", {kTokens});
  return *tokens_;
}

ValueId ModelBuilder::embedded(ValueId table, float scale) {
  const ValueId tokens = token_ids();
  token_table_ = table;
  if (options_.image_rows > 0) {
    const uint32_t columns = uint32_t(at(table).shape[1]);
    const ValueId rows = host_rows(std::string(kImageRows), options_.image_rows, columns);
    return embed(tokens, table, rows, scale);
  }
  const ValueId rows = embed(tokens, table);
  return scale == 1 ? rows : this->scale(rows, scale);
}

ValueId ModelBuilder::with_image_rows(uint32_t layer, ValueId x) {
  if (layer >= options_.image_layers) return x;
  const ValueId rows = host_rows(fmt::format("{}.{}", kImageRows, layer), options_.image_rows,
                                 uint32_t(at(x).shape[1]));
  // Tokens of text have zeros: their own rows times 0.
  const ValueId own = embed(token_ids(), *token_table_, rows, 0);
  return add(x, own);
}

ValueId ModelBuilder::rotate_by_row(ValueId x, uint32_t head_dim, std::string_view name,
                                    uint32_t columns) {
  auto angles = made_.find(name);
  if (angles == made_.end()) {
    angles = made_.emplace(name, row_input(std::string(name), columns)).first;
  }
  return rope(x, angles->second, head_dim);
}

ValueId ModelBuilder::rotate(ValueId x, uint32_t head_dim, const RopeTable& recipe,
                             std::string_view name) {
  if (options_.own_angles) {
    const auto columns = uint32_t(recipe.inverse_frequencies.size() * 2);
    return rotate_by_row(x, head_dim, kAngles, columns);
  }
  // A sequence that never gets long needs no second part.
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
                                       const Attention& attributes, std::optional<ValueId> bias) {
  if (options_.kv_dtype == kQ8Cache && head_dim % kQ8CacheMultiple != 0) {
    reject({ErrorCode::kUsage,
            fmt::format("kv q8 is for heads of a multiple of {} elements; this model's have {}.",
                        kQ8CacheMultiple, head_dim)});
  }
  const uint32_t pages = ceil_div(options_.context, kPageTokens);
  // A window layer's pages recur; a step writes all its tokens before any of them attends, so the
  // cache holds a window and a chunk; and a page more, so that where steps ran ahead of a sequence
  // it still holds what the page that it ended in began with: its continuation starts there.
  const uint32_t own_pages =
      attributes.window == 0
          ? pages
          : std::min(pages, ceil_div(attributes.window + options_.chunk, kPageTokens) + 1);
  const uint32_t window = own_pages == pages ? 0 : attributes.window;
  const uint32_t all_pages = window == 0 && options_.cache_pages != 0
                                 ? options_.cache_pages
                                 : options_.sequences * own_pages;
  const std::string table = window == 0 ? "pages" : fmt::format("pages.{}", window);
  auto found = made_.find(table);
  if (found == made_.end()) {
    found = made_.emplace(table, input(table, {Dim(pages)}, window)).first;
  }
  const auto before = caches_.find(layer);
  const ValueId cache = before != caches_.end()
                            ? before->second.appended
                            : kv_cache(fmt::format("kv.{}", layer), options_.kv_dtype,
                                       Dim(all_pages) * kPageTokens, kv_heads, head_dim, window);
  const Cache own{kv_append(k, v, cache, found->second), found->second};
  caches_[layer] = own;
  return attention(q, own.appended, own.pages, attributes, bias ? bias : ends(attributes.window));
}

ValueId ModelBuilder::shared_attention(uint32_t layer, ValueId q, const Attention& attributes) {
  const auto found = caches_.find(layer);
  TOK_CHECK(found != caches_.end());
  return attention(q, found->second.appended, found->second.pages, attributes,
                   ends(attributes.window));
}

std::optional<ValueId> ModelBuilder::ends(uint32_t window) {
  if (!options_.own_ends && !(options_.own_ends_in_windows && window > 0)) return std::nullopt;
  auto found = made_.find(kEnds);
  if (found == made_.end()) {
    found = made_.emplace(kEnds, input(std::string(kEnds), {kTokens})).first;
  }
  return found->second;
}

Result<Graph> ModelBuilder::finish_embedding(ValueId x) {
  const EmbeddingHead& head = options_.embedding.value();
  if (head.pooling == Pooling::kMean) x = mean_rows(x);
  if (head.pooling == Pooling::kFirst) x = first_row(x);
  for (const DenseLayer& layer : head.dense) {
    x = projection(x, layer.folder + "/linear", layer.outputs, layer.bias);
    if (layer.tanh) x = softcap(x, 1);  // 1 * tanh(x / 1)
  }
  return GraphBuilder::finish(x);
}

Result<Graph> ModelBuilder::finish_logits(ValueId logits) {
  if (embeds()) {
    return unsupported("This architecture gives logits or scores only, no embeddings.");
  }
  return GraphBuilder::finish(logits);
}

}  // namespace tokamak
