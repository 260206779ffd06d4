#include "quantize/merge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/packing.h"
#include "formats/printable.h"
#include "model/repack.h"

namespace tokamak {
namespace {

constexpr std::string_view kWeightEnding = ".weight";

/// The matrices of a checkpoint by the names that adapters have for them.
struct Matrices {
  std::map<std::string, const TensorInfo*, std::less<>> tensors;
  std::set<std::string, std::less<>> doubtful;  // names of several
  LoraShapes shapes;

  explicit Matrices(const TensorFile& model) {
    for (const TensorInfo& tensor : model.tensors()) {
      const std::string_view name = tensor.name;
      if (!name.ends_with(kWeightEnding) || tensor.shape.size() != 2) continue;
      const std::string own(inner_lora_name(name.substr(0, name.size() - kWeightEnding.size())));
      if (!tensors.emplace(own, &tensor).second) doubtful.insert(own);
      shapes[own] = {.in = uint32_t(tensor.shape[1]), .out = uint32_t(tensor.shape[0])};
    }
  }
};

Result<void> check_matrix(const TensorFile& model, const Matrices& matrices,
                          const std::string& name) {
  const TensorInfo& tensor = *matrices.tensors.find(name)->second;
  if (matrices.doubtful.contains(name)) {
    return unsupported("{}: several tensors may be the \"{}\" of the adapter, \"{}\" among them.",
                       model.file_name(tensor), name, printable(tensor.name));
  }
  if (is_float_weight(tensor.dtype)) return {};
  return unsupported(
      "{}: tensor \"{}\" is {}; adapters are merged into f32, f16 and bf16. Merge into the model "
      "that this one was made of, or run it with --lora.",
      model.file_name(tensor), printable(tensor.name), describe(tensor));
}

void widen(DType dtype, const std::byte* from, std::span<float> out) {
  const uint64_t each = dtype_bytes(dtype);
  for (size_t i = 0; i < out.size(); ++i) out[i] = number_at(dtype, from + i * each);
}

/// Writes a number in that type; returns what the type holds of it.
float narrowed(DType dtype, float value, std::byte* out) {
  store_floats(dtype, {&value, 1}, out);
  return number_at(dtype, out);
}

/// All numbers of a matrix of floats.
Result<std::vector<float>> floats_of(const TensorFile& file, const TensorInfo& tensor) {
  TOK_TRY(const FileBytes bytes, file.data(tensor));
  std::vector<float> out(size_t(tensor.elements()));
  widen(tensor.dtype, bytes.data(), out);
  return out;
}

/// The rows of a matrix with what the adapters add.
class Rows {
 public:
  static Result<Rows> open(const TensorFile& model, const MergePlan::Tensor& plan) {
    Rows rows(model, *plan.tensor);
    TOK_TRY(rows.bytes_, model.pieces(*plan.tensor));
    for (const MergePlan::Pair& pair : plan.pairs) {
      Added& added = rows.added_.emplace_back();
      added.factor = pair.tensors.factor;
      added.rank = pair.tensors.a->shape[0];
      TOK_TRY(added.a, floats_of(pair.files->tensors, *pair.tensors.a));
      TOK_TRY(added.b, floats_of(pair.files->tensors, *pair.tensors.b));
    }
    return rows;
  }

  uint64_t count() const { return tensor_->shape[0]; }
  uint64_t columns() const { return tensor_->shape[1]; }
  uint64_t row_bytes() const { return columns() * dtype_bytes(tensor_->dtype); }

  /// Writes `count` rows to `out`.
  Result<void> merge(uint64_t first, uint64_t count, std::byte* out) const {
    std::vector<float> row(size_t(columns()), 0);
    std::vector<double> sums(row.size());
    for (uint64_t i = first; i < first + count; ++i, out += row_bytes()) {
      TOK_TRY(const FileBytes stored, bytes_.view(i * row_bytes(), row_bytes()));
      widen(tensor_->dtype, stored.data(), row);
      add_to(i, row, sums);
      TOK_TRY(narrow(i, sums, out));
    }
    return {};
  }

 private:
  struct Added {
    double factor = 1;
    uint64_t rank = 0;
    std::vector<float> a, b;
  };

  Rows(const TensorFile& model, const TensorInfo& tensor) : model_(&model), tensor_(&tensor) {}

  void add_to(uint64_t row, std::span<const float> own, std::span<double> sums) const {
    std::ranges::copy(own, sums.begin());
    for (const Added& added : added_) {
      for (uint64_t r = 0; r < added.rank; ++r) {
        const double factor = added.factor * added.b[size_t(row * added.rank + r)];
        const float* const a = &added.a[size_t(r * columns())];
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += factor * a[i];
      }
    }
  }

  Result<void> narrow(uint64_t row, std::span<const double> sums, std::byte* out) const {
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto sum = float(sums[i]);
      const float kept = narrowed(tensor_->dtype, sum, out + i * dtype_bytes(tensor_->dtype));
      if (std::isfinite(kept)) continue;
      return invalid_input(
          "{}: tensor \"{}\", row {}, column {}: the sum is {}, which {} cannot "
          "hold.",
          model_->file_name(*tensor_), printable(tensor_->name), row, i, sums[i],
          dtype_name(tensor_->dtype));
    }
    return {};
  }

  const TensorFile* model_;
  const TensorInfo* tensor_;
  TensorBytes bytes_;
  std::vector<Added> added_;
};

Result<void> merge_tensor(const TensorFile& model, const MergePlan::Tensor& plan,
                          const MergeOptions& options, const ByteSink& sink) {
  TOK_TRY(const Rows rows, Rows::open(model, plan));
  return put_rows({.count = rows.count(),
                   .columns = rows.columns(),
                   .row_bytes = rows.row_bytes(),
                   .make = std::bind_front(&Rows::merge, &rows)},
                  options.threads, options.cancelled, sink);
}

}  // namespace

Result<MergePlan> plan_merge(const TensorFile& model, std::span<const LoraFiles> adapters,
                             const std::function<void(std::string_view)>& notice) {
  const Matrices matrices(model);
  std::map<const TensorInfo*, std::vector<MergePlan::Pair>> pairs;
  for (const LoraFiles& files : adapters) {
    TOK_TRY(const LoraAdapter adapter, LoraAdapter::read(files, matrices.shapes));
    if (notice) adapter.note_unused_patterns(notice);
    for (const auto& [name, pair] : adapter.pairs()) {
      TOK_TRY(check_matrix(model, matrices, name));
      pairs[matrices.tensors.find(name)->second].push_back({&files, pair});
    }
  }
  MergePlan plan;
  for (auto& [tensor, own] : pairs) plan.tensors.push_back({tensor, std::move(own)});
  std::ranges::sort(plan.tensors, {}, [](const MergePlan::Tensor& one) {
    return std::pair(one.tensor->shard, one.tensor->offset);
  });
  return plan;
}

Result<void> write_merged(const TensorFile& model, const MergePlan& plan, uint32_t file,
                          const MergeOptions& options, const ByteSink& sink) {
  const ByteSource& source = *model.sources()[file];
  const auto copy = [&](uint64_t from, uint64_t to) {
    const auto view = [&](uint64_t at, uint64_t count) { return source.view(at, count); };
    return put_bytes(view, from, to, options.cancelled, sink);
  };
  uint64_t done = 0;
  for (const MergePlan::Tensor& one : plan.tensors) {
    if (one.tensor->shard != file) continue;
    TOK_TRY(copy(done, one.tensor->offset));
    if (options.progress) options.progress(*one.tensor);
    TOK_TRY(merge_tensor(model, one, options, sink));
    done = one.tensor->offset + one.tensor->bytes;
  }
  return copy(done, source.size());
}

}  // namespace tokamak
