#include "model/repack.h"

#include <array>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {
namespace {

class FloatRows final : public RowSource {
 public:
  FloatRows(TensorBytes bytes, DType stored, uint64_t columns, DType type,
            const WeightChange& change)
      : bytes_(std::move(bytes)),
        stored_(stored),
        columns_(size_t(columns)),
        stored_row_(size_t(columns) * dtype_bytes(stored)),
        same_(stored == type && change.is_none()),
        change_(change) {}

  Result<void> write(Stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    TOK_TRY(const FileBytes rows, bytes_.view(first * stored_row_, count * stored_row_));
    std::vector<float> row(same_ ? 0 : columns_);
    for (uint64_t i = 0; i < count; ++i) {
      const std::byte* from = rows.data() + size_t(i) * stored_row_;
      std::byte* place = out + size_t(i) * stride;
      if (same_) {
        std::memcpy(place, from, stored_row_);
        continue;
      }
      load_floats(stored_, from, row);
      if (!change_.is_none()) {
        for (float& value : row) value = change_.factor * (value + (change_.add_one ? 1.0f : 0.0f));
      }
      std::memcpy(place, row.data(), row.size() * sizeof(float));
    }
    return {};
  }

  Result<FileBytes> view(Stream, uint64_t first, uint64_t count) const override {
    if (!same_) return FileBytes();
    return bytes_.view(first * stored_row_, count * stored_row_);
  }

 private:
  TensorBytes bytes_;
  DType stored_;
  size_t columns_, stored_row_;
  bool same_;
  WeightChange change_;
};

class WidenedRows final : public RowSource {
 public:
  WidenedRows(std::unique_ptr<RowSource> source, DType type, uint64_t columns)
      : source_(std::move(source)), type_(type), columns_(columns) {}

  Result<void> write(Stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    std::array<uint64_t, kStreams.size() + 1> begin{};  // of each stream; kLow's is 0
    if (is_packed(type_)) begin = stream_offsets(weight_format(type_), count, columns_);
    std::vector<std::byte> bytes(size_t(matrix_bytes(type_, count, columns_)));
    for (const Stream stream : kStreams) {
      const auto each = size_t(row_bytes(type_, stream, columns_));
      if (each == 0) continue;
      std::byte* const place = bytes.data() + begin[size_t(stream)];
      TOK_TRY(source_->write(stream, first, count, place, each));
    }
    std::vector<float> row(static_cast<size_t>(columns_));
    for (uint64_t i = 0; i < count; ++i) {
      if (is_packed(type_)) {
        unpack_row(type_, bytes, count, i, row);
      } else {
        load_floats(type_, &bytes[size_t(i) * row.size() * dtype_bytes(type_)], row);
      }
      std::memcpy(out + size_t(i) * stride, row.data(), row.size() * sizeof(float));
    }
    return {};
  }

 private:
  std::unique_ptr<RowSource> source_;
  DType type_;
  uint64_t columns_;
};

/// Whether the bytes are the same. The type gives the meaning of GPTQ's zeros, whose bytes are.
bool holds_the_same(const StoredMatrix& stored, DType type) {
  if (stored.dtype == type) return true;
  if (stored.format != StoredMatrix::Format::kGptq || !is_packed(type)) return false;
  WeightFormat wanted = weight_format(stored.dtype);
  wanted.offset = weight_format(type).offset;
  return weight_format(type).has_zeros() && packed_dtype(wanted) == type;
}

Result<std::unique_ptr<RowSource>> open_packed(const TensorFile& file, const StoredMatrix& stored) {
  switch (stored.format) {
    case StoredMatrix::Format::kBlocks:
      return open_blocks(file, stored);
    case StoredMatrix::Format::kAffine:
      return open_affine(file, stored);
    case StoredMatrix::Format::kGptq:
      return open_gptq(file, stored);
    case StoredMatrix::Format::kAwq:
      return open_awq(file, stored);
    case StoredMatrix::Format::kNf4:
      return open_nf4(file, stored);
    default:
      return open_scaled(file, stored);
  }
}

}  // namespace

std::unique_ptr<RowSource> widen_rows(std::unique_ptr<RowSource> source, DType type,
                                      uint64_t columns) {
  return std::make_unique<WidenedRows>(std::move(source), type, columns);
}

uint64_t row_bytes(DType type, Stream stream, uint64_t columns) {
  if (is_packed(type)) return stream_row_bytes(weight_format(type), stream, columns);
  return stream == Stream::kLow ? columns * dtype_bytes(type) : 0;
}

void load_floats(DType type, const std::byte* bytes, std::span<float> out) {
  TOK_CHECK(is_float_weight(type));
  if (type == DType::kF32) {
    std::memcpy(out.data(), bytes, out.size_bytes());
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, bytes + i * sizeof half, sizeof half);
    out[i] = type == DType::kF16 ? f16_to_f32(half) : bf16_to_f32(half);
  }
}

void store_floats(DType type, std::span<const float> values, std::byte* out) {
  TOK_CHECK(is_float_weight(type));
  if (type == DType::kF32) {
    std::memcpy(out, values.data(), values.size_bytes());
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = type == DType::kF16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
    std::memcpy(out + i * sizeof half, &half, sizeof half);
  }
}

Result<std::unique_ptr<RowSource>> open_rows(const TensorFile& file, const StoredMatrix& stored,
                                             DType type, const WeightChange& change) {
  const bool is_plain = stored.format == StoredMatrix::Format::kPlain;
  if (is_plain && !stored.transposed && (type == stored.dtype || type == DType::kF32)) {
    TOK_TRY(TensorBytes bytes, file.pieces(*stored.weight));
    return std::make_unique<FloatRows>(std::move(bytes), stored.dtype, stored.columns, type,
                                       change);
  }
  if (is_plain && change.is_none()) {
    std::unique_ptr<RowSource> own;
    if (stored.transposed) {
      TOK_TRY(own, open_transposed(file, stored));
    } else {
      TOK_TRY(own, open_rows(file, stored, stored.dtype));
    }
    if (type == stored.dtype) return own;
    if (type == DType::kF32) return widen_rows(std::move(own), stored.dtype, stored.columns);
    if ((type == DType::kQ8_0 || type == DType::kQ4_0) && stored.columns % 32 == 0) {
      return quantize_rows(std::move(own), stored.dtype, stored.columns, type);
    }
  } else if (holds_the_same(stored, type) && change.is_none()) {
    return open_packed(file, stored);
  }
  return unsupported("{}: tensor \"{}\" is {}; this engine does not turn it into {}.",
                     file.file_name(*stored.weight), stored.weight->name, describe(*stored.weight),
                     dtype_name(type));
}

}  // namespace tokamak
