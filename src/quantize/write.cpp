#include "quantize/write.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/bits.h"
#include "formats/gguf_writer.h"
#include "formats/printable.h"
#include "model/repack.h"
#include "quantize/encode.h"
#include "quantize/importance.h"

namespace tokamak {
namespace {

/// The layout of blocks; ggml.h, GGML_QNT_VERSION.
constexpr uint32_t kQuantizationVersion = 2;
constexpr uint64_t kReadWeights = uint64_t{64} << 10;  // of rows that are read together

uint64_t alignment_of(const GgufFile& file) {
  const Json* given = file.metadata.values().find("general.alignment");
  return given != nullptr ? uint64_t(given->as_integer()) : 32;
}

Result<void> put_padding(uint64_t bytes, uint64_t alignment, const ByteSink& sink) {
  const std::vector<std::byte> zeros(size_t(round_up(bytes, alignment) - bytes));
  return sink(zeros);
}

/// The rows of one tensor, from file to file.
class Rows {
 public:
  static Result<Rows> open(const GgufFile& file, const TensorPlan& plan, const GgufFile* sums) {
    const TensorInfo& tensor = *plan.from;
    StoredMatrix stored{.dtype = tensor.dtype, .weight = &tensor};
    stored.columns = tensor.shape.back();
    stored.rows = tensor.elements() / stored.columns;
    const bool is_blocks = is_packed(tensor.dtype);
    if (is_blocks) stored.format = StoredMatrix::Format::kBlocks;
    TOK_TRY(auto floats, open_rows(file.tensors, stored, is_blocks ? tensor.dtype : DType::kF32));
    if (is_blocks) floats = widen_rows(std::move(floats), tensor.dtype, stored.columns);
    Rows rows(file, plan, std::move(floats), stored.rows, stored.columns);
    if (sums != nullptr) {
      TOK_TRY(rows.importance_, importance_of(*sums, tensor));
    }
    return rows;
  }

  uint64_t count() const { return count_; }
  uint64_t columns() const { return columns_; }
  uint64_t row_bytes() const { return plan_->to.bytes / count_; }

  /// Writes `count` rows to `out`.
  Result<void> encode(uint64_t first, uint64_t count, std::byte* out) const {
    const uint64_t most = std::max<uint64_t>(kReadWeights / columns_, 1);
    std::vector<float> floats(size_t(std::min(most, count) * columns_));
    for (uint64_t at = 0; at < count; at += most) {
      const uint64_t some = std::min(most, count - at);
      TOK_TRY(floats_->write(Stream::kLow, first + at, some,
                             std::as_writable_bytes(std::span(floats)).data(),
                             size_t(columns_) * sizeof(float)));
      for (uint64_t i = 0; i < some; ++i) {
        const auto row = std::span(floats).subspan(size_t(i * columns_), size_t(columns_));
        const auto done = encode_row(plan_->to.dtype, row, importance(first + at + i), out);
        if (!done) return about(first + at + i, done.error());
        out += row_bytes();
      }
    }
    return {};
  }

 private:
  Rows(const GgufFile& file, const TensorPlan& plan, std::unique_ptr<RowSource> floats,
       uint64_t count, uint64_t columns)
      : file_(&file), plan_(&plan), floats_(std::move(floats)), count_(count), columns_(columns) {}

  /// That of the expert which the row belongs to.
  std::span<const float> importance(uint64_t row) const {
    if (importance_.empty()) return {};
    const uint64_t experts = importance_.size() / columns_, expert = row / (count_ / experts);
    return std::span(importance_).subspan(size_t(expert * columns_), size_t(columns_));
  }

  Failure about(uint64_t row, const Error& error) const {
    return fail(error.code, "{}: tensor \"{}\", row {}, {}.",
                file_->tensors.file_name(*plan_->from), printable(plan_->from->name), row,
                error.message);
  }

  const GgufFile* file_;
  const TensorPlan* plan_;
  std::unique_ptr<RowSource> floats_;
  uint64_t count_, columns_;
  std::vector<float> importance_;
};

Result<void> round_tensor(const GgufFile& file, const TensorPlan& plan, const WriteOptions& options,
                          const ByteSink& sink) {
  TOK_TRY(const Rows rows, Rows::open(file, plan, options.sums));
  return put_rows({.count = rows.count(),
                   .columns = rows.columns(),
                   .row_bytes = rows.row_bytes(),
                   .make = std::bind_front(&Rows::encode, &rows)},
                  options.threads, options.cancelled, sink);
}

Result<std::string> header_of(const GgufFile& file, const QuantizationPlan& plan) {
  TOK_TRY(std::vector<GgufEntry> entries, read_gguf_entries(*file.tensors.sources().front()));
  std::erase_if(entries, [](const GgufEntry& entry) { return entry.key.starts_with("split."); });
  set_gguf_entry(entries, gguf_entry("general.file_type", plan.file_type));
  set_gguf_entry(entries, gguf_entry("general.quantization_version", kQuantizationVersion));
  std::vector<TensorInfo> tensors;
  for (const TensorPlan& tensor : plan.tensors) tensors.push_back(tensor.to);
  return gguf_header(entries, tensors, alignment_of(file));
}

}  // namespace

Result<void> write_quantized(const GgufFile& file, const QuantizationPlan& plan,
                             const WriteOptions& options, const ByteSink& sink) {
  TOK_TRY(const std::string header, header_of(file, plan));
  TOK_TRY(sink(std::as_bytes(std::span(header))));
  uint64_t done = header.size();
  for (const TensorPlan& tensor : plan.tensors) {
    TOK_TRY(check_cancelled(options.cancelled));
    if (options.progress) options.progress(tensor, done);
    if (tensor.is_rounded) {
      TOK_TRY(round_tensor(file, tensor, options, sink));
    } else {
      TOK_TRY(copy_tensor(file.tensors, *tensor.from, options.cancelled, sink));
    }
    TOK_TRY(put_padding(tensor.to.bytes, alignment_of(file), sink));
    done += tensor.to.bytes;
  }
  return {};
}

}  // namespace tokamak
