#include "quantize/mlx.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>

#include "base/bits.h"
#include "base/check.h"
#include "base/packing.h"
#include "formats/printable.h"
#include "formats/safetensors_writer.h"
#include "model/repack.h"

namespace tokamak {
namespace {

constexpr std::string_view kWeightEnding = ".weight";
/// Smaller steps between numbers are not taken.
constexpr float kMinScale = 1e-7f;

/// Whether every reader of a tensor takes the packed rows of it, by its name.
std::map<std::string, bool, std::less<>> packable(const Graph& graph) {
  std::vector<ValueId> routed;
  for (const Node& node : graph.nodes) {
    if (std::holds_alternative<Route>(node.op)) routed.push_back(node.inputs[0]);
  }
  std::map<std::string, bool, std::less<>> out;
  for (const Node& node : graph.nodes) {
    const bool multiplies = std::holds_alternative<Embed>(node.op) ||
                            std::holds_alternative<Linear>(node.op) ||
                            std::holds_alternative<ExpertLinear>(node.op);
    const bool is_router = std::ranges::find(routed, node.outputs[0]) != routed.end();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto* weight = std::get_if<Weight>(&graph.at(node.inputs[i]).recipe);
      if (weight == nullptr) continue;
      const bool is_plain = multiplies && i == 1 && !is_router && weight->columns == ColumnRange{};
      for (const WeightPart& part : weight->parts) {
        const bool fits = is_plain && !part.transposed && !part.dtype && part.factor == 1;
        const auto [at, is_new] = out.try_emplace(part.name, fits);
        at->second = at->second && fits;
      }
    }
  }
  return out;
}

float rounded_to(DType dtype, float value) {
  if (dtype == DType::kF32) return value;
  return dtype == DType::kF16 ? f16_to_f32(f32_to_f16(value)) : bf16_to_f32(f32_to_bf16(value));
}

/// The factors of a group as they are stored.
struct Group {
  float scale = 0, bias = 0, highest = 0;

  float number_of(float value) const {
    if (scale == 0) return 0;
    return std::clamp(std::rint((value - bias) / scale), 0.0f, highest);
  }
  double error_of(std::span<const float> values) const {
    double sum = 0;
    for (const float value : values) {
      const double off = double(value) - double(scale * number_of(value) + bias);
      sum += off * off;
    }
    return sum;
  }
};

/// The least squared error among the scale that the range asks for and the two nearest ones that
/// have a number for 0, of which mx.quantize takes one.
Group fit_group(std::span<const float> values, uint32_t bits, DType dtype) {
  const auto [least, most] = std::ranges::minmax(values);
  const auto highest = float((1u << bits) - 1);
  const bool is_least_farther = std::abs(least) > std::abs(most);
  const float edge = is_least_farther ? least : most;
  const float range = std::max((most - least) / highest, kMinScale);
  const float scale = is_least_farther ? range : -range, zero = edge / scale;
  Group best;
  double best_error = std::numeric_limits<double>::infinity();
  for (const float number : {zero, std::floor(zero), std::ceil(zero)}) {
    if (number == 0) continue;
    const Group one{rounded_to(dtype, edge / number), rounded_to(dtype, edge), highest};
    const double error = one.error_of(values);
    if (error < best_error) best = one;
    best_error = std::min(error, best_error);
  }
  return best;
}

/// The tensors that stand for a matrix. Scales and biases, which follow in the file, are kept while
/// the numbers are made.
class MlxRows {
 public:
  static Result<MlxRows> open(const TensorFile& model, const TensorPlan& plan) {
    MlxRows rows(model, plan);
    TOK_TRY(rows.bytes_, model.pieces(*plan.from));
    return rows;
  }

  /// Writes the numbers of rows [first, first + count); other threads may have other rows.
  Result<void> encode(uint64_t first, uint64_t count, std::byte* out) {
    const DType dtype = from_->dtype;
    const uint64_t columns = from_->shape.back(), row_bytes = columns * dtype_bytes(dtype);
    std::vector<float> row(static_cast<size_t>(columns));
    size_t factor = size_t(first * (columns / format_.group) * dtype_bytes(dtype));
    for (uint64_t i = first; i < first + count; ++i) {
      TOK_TRY(const FileBytes stored, bytes_.view(i * row_bytes, row_bytes));
      load_floats(dtype, stored.data(), row);
      TOK_TRY(check(i, row));
      std::memset(out, 0, size_t(columns * format_.bits / 8));
      for (uint64_t at = 0; at < columns; at += format_.group) {
        const auto values = std::span(row).subspan(size_t(at), format_.group);
        const Group group = fit_group(values, format_.bits, dtype);
        put_numbers(group, values, out);
        out += format_.group * format_.bits / 8;
        store_floats(dtype, {&group.scale, 1}, scales_.data() + factor);
        store_floats(dtype, {&group.bias, 1}, biases_.data() + factor);
        factor += dtype_bytes(dtype);
      }
    }
    return {};
  }

  std::span<const std::byte> scales() const { return scales_; }
  std::span<const std::byte> biases() const { return biases_; }

 private:
  MlxRows(const TensorFile& model, const TensorPlan& plan)
      : model_(&model), from_(plan.from), format_(weight_format(plan.to.dtype)) {
    const size_t groups = size_t(from_->elements() / format_.group);
    scales_.resize(groups * dtype_bytes(from_->dtype));
    biases_.resize(scales_.size());
  }

  /// One stream of bits, the first number lowest. REQUIRES: `out` has zeros.
  void put_numbers(const Group& group, std::span<const float> values, std::byte* out) const {
    for (size_t i = 0, bit = 0; i < values.size(); ++i, bit += format_.bits) {
      const uint32_t q = uint32_t(group.number_of(values[i])) << bit % 8;
      out[bit / 8] |= std::byte(q & 255);
      if (q > 255) out[bit / 8 + 1] |= std::byte(q >> 8);
    }
  }

  Result<void> check(uint64_t row, std::span<const float> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      return invalid_input("{}: tensor \"{}\", row {}, column {} is {}, expected a finite number.",
                           model_->file_name(*from_), printable(from_->name), row, i, values[i]);
    }
    return {};
  }

  const TensorFile* model_;
  const TensorInfo* from_;
  const WeightFormat& format_;
  TensorBytes bytes_;
  std::vector<std::byte> scales_, biases_;
};

Result<void> pack(const TensorFile& model, const TensorPlan& plan, const WriteOptions& options,
                  const ByteSink& sink) {
  TOK_TRY(MlxRows rows, MlxRows::open(model, plan));
  const uint64_t count = plan.from->shape[0], columns = plan.from->shape.back();
  const auto make = [&](uint64_t first, uint64_t some, std::byte* out) {
    return rows.encode(first, some, out);
  };
  TOK_TRY(put_rows({.count = count,
                    .columns = columns,
                    .row_bytes = columns * weight_format(plan.to.dtype).bits / 8,
                    .make = make},
                   options.threads, options.cancelled, sink));
  TOK_TRY(sink(rows.scales()));
  return sink(rows.biases());
}

}  // namespace

std::optional<uint32_t> mlx_bits(std::string_view type) {
  for (const uint32_t bits : {2u, 3u, 4u, 5u, 6u, 8u}) {
    if (type == fmt::format("mlx{}", bits)) return bits;
  }
  return std::nullopt;
}

QuantizationPlan plan_mlx(const TensorFile& model, const Graph& graph, const MlxType& type) {
  const auto matrices = packable(graph);
  QuantizationPlan plan;
  for (const TensorInfo& tensor : model.tensors()) {
    TensorPlan one{&tensor, tensor, "", false};
    const auto found = matrices.find(tensor.name);
    const bool is_matrix = tensor.shape.size() == 2 && is_float_weight(tensor.dtype);
    if (!is_matrix || tensor.shape[0] == 1) {
      one.note = "stays: no matrix of floats";
    } else if (found == matrices.end() || !found->second || !tensor.name.ends_with(kWeightEnding)) {
      one.note = "stays: no plain product of the text";
    } else if (tensor.shape[1] % type.group != 0) {
      one.note = fmt::format("stays: {} columns are no groups of {}", tensor.shape[1], type.group);
    } else {
      const auto packed = packed_dtype({.bits = uint8_t(type.bits),
                                        .group = uint16_t(type.group),
                                        .scale = scale_of(tensor.dtype),
                                        .offset = Offset::kStored});
      TOK_CHECK(packed.has_value());
      one.is_rounded = true;
      one.to.dtype = *packed;
      one.to.bytes = 0;
      for (const TensorInfo& part : stored_tensors(one)) one.to.bytes += part.bytes;
    }
    plan.old_bytes += tensor.bytes;
    plan.new_bytes += one.to.bytes;
    plan.tensors.push_back(std::move(one));
  }
  std::ranges::sort(plan.tensors, {}, [](const TensorPlan& one) {
    return std::tie(one.from->shard, one.from->offset);
  });
  return plan;
}

std::vector<TensorInfo> stored_tensors(const TensorPlan& plan) {
  if (!plan.is_rounded) return {plan.to};
  const WeightFormat& format = weight_format(plan.to.dtype);
  const uint64_t rows = plan.from->shape[0], columns = plan.from->shape[1];
  const std::string module =
      plan.from->name.substr(0, plan.from->name.size() - kWeightEnding.size());
  const auto tensor = [&](std::string_view suffix, DType dtype, uint64_t width) {
    TensorInfo out;
    out.name = module + std::string(suffix);
    out.dtype = dtype;
    out.shape = {rows, width};
    out.bytes = rows * width * dtype_bytes(dtype);
    return out;
  };
  return {tensor(kWeightEnding, DType::kU32, columns * format.bits / 32),
          tensor(".scales", plan.from->dtype, columns / format.group),
          tensor(".biases", plan.from->dtype, columns / format.group)};
}

Result<void> write_mlx(const TensorFile& model, const QuantizationPlan& plan, uint32_t file,
                       const WriteOptions& options, const ByteSink& sink) {
  std::vector<TensorInfo> stored;
  for (const TensorPlan& one : plan.tensors) {
    if (one.from->shard == file) std::ranges::copy(stored_tensors(one), std::back_inserter(stored));
  }
  const std::string header = safetensors_header(stored, model.metadata());
  TOK_TRY(sink(std::as_bytes(std::span(header))));
  uint64_t done = 0;
  for (const TensorPlan& one : plan.tensors) {
    if (one.from->shard == file) {
      TOK_TRY(check_cancelled(options.cancelled));
      if (options.progress) options.progress(one, done);
      if (one.is_rounded) {
        TOK_TRY(pack(model, one, options, sink));
      } else {
        TOK_TRY(copy_tensor(model, *one.from, options.cancelled, sink));
      }
    }
    done += one.to.bytes;
  }
  return {};
}

}  // namespace tokamak
