// Numbers that lie as the device has them, beside scales of their own: see locate_scaled.cpp.
#include <cstring>

#include "base/bits.h"
#include "base/check.h"
#include "model/matrix_search.h"
#include "model/number_rows.h"

namespace tokamak {
namespace {

float scale_at(const TensorInfo& tensor, const FileBytes& bytes, uint64_t i) {
  if (tensor.dtype == DType::kF8E8M0) return std::ldexp(1.0f, int32_t(bytes[size_t(i)]) - 127);
  return number_at(tensor.dtype, bytes.data() + size_t(i) * dtype_bytes(tensor.dtype));
}

/// The common part of all these forms: rows of numbers that are copied.
class CopiedNumbers : public RowSource {
 public:
  CopiedNumbers(const StoredMatrix& stored, TensorBytes weight)
      : stored_(stored),
        format_(weight_format(stored.dtype)),
        row_(size_t(stored.columns * format_.bits / 8)),
        groups_(stored.columns / format_.group),
        weight_(std::move(weight)) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    if (stream != Stream::kLow) {
      for (uint64_t row = first; row < first + count; ++row, out += stride) {
        stream == Stream::kScales ? scales(row, out) : zeros(row, out);
      }
      return {};
    }
    TOK_TRY(const FileBytes rows, weight_.view(first * row_, count * row_));
    for (uint64_t i = 0; i < count; ++i, out += stride) {
      std::memcpy(out, rows.data() + i * row_, row_);
      if (flips()) {
        for (size_t byte = 0; byte < row_; ++byte) out[byte] ^= std::byte{0x80};
      }
    }
    return {};
  }

  Result<FileBytes> view(Stream stream, uint64_t first, uint64_t count) const override {
    if (stream != Stream::kLow || flips()) return FileBytes();
    return weight_.view(first * row_, count * row_);
  }

 protected:
  virtual void scales(uint64_t row, std::byte* out) const = 0;
  virtual void zeros(uint64_t row, std::byte* out) const = 0;
  /// Numbers of 8 bits that count from -128 on, and are two's complement on the device.
  virtual bool flips() const { return false; }

  const StoredMatrix stored_;
  const WeightFormat& format_;
  size_t row_;
  uint64_t groups_;
  TensorBytes weight_;
};

class ScaledRows final : public CopiedNumbers {
 public:
  ScaledRows(const StoredMatrix& stored, TensorBytes weight, FileBytes scales)
      : CopiedNumbers(stored, std::move(weight)),
        grid_(scale_grid(stored).value()),
        across_(ceil_div(stored.columns, grid_.columns)),
        divisor_(stored.scales->name.ends_with(".SCB") ? 127.0f : 1.0f),
        scales_(std::move(scales)) {}

 private:
  void scales(uint64_t row, std::byte* out) const override {
    for (uint64_t group = 0; group < groups_; ++group) {
      const uint64_t at = row / grid_.rows * across_ + group * format_.group / grid_.columns;
      const float scale = scale_at(*stored_.scales, scales_, at) / divisor_;
      std::memcpy(out + group * sizeof scale, &scale, sizeof scale);
    }
  }
  void zeros(uint64_t, std::byte*) const override {}

  ScaleGrid grid_;
  uint64_t across_;
  float divisor_;
  FileBytes scales_;
};

class MicroRows final : public CopiedNumbers {
 public:
  MicroRows(const StoredMatrix& stored, TensorBytes weight, FileBytes scales, float factor)
      : CopiedNumbers(stored, std::move(weight)), scales_(std::move(scales)), factor_(factor) {}

 private:
  void scales(uint64_t row, std::byte* out) const override {
    std::memcpy(out, scales_.data() + row * groups_, size_t(groups_));
  }
  void zeros(uint64_t, std::byte* out) const override {
    std::memcpy(out, &factor_, sizeof factor_);
  }

  FileBytes scales_;
  float factor_;
};

class PackedRows final : public CopiedNumbers {
 public:
  PackedRows(const StoredMatrix& stored, TensorBytes weight, FileBytes scales, FileBytes zeros)
      : CopiedNumbers(stored, std::move(weight)),
        per_stored_(stored.group / format_.group),
        scales_(std::move(scales)),
        zeros_(std::move(zeros)) {}

 private:
  void scales(uint64_t row, std::byte* out) const override {
    const DType stored = stored_.scales->dtype, type = format_.scale_dtype();
    const size_t from = dtype_bytes(stored), to = dtype_bytes(type);
    for (uint64_t group = 0; group < groups_; ++group, out += to) {
      const std::byte* at =
          scales_.data() + (row * (groups_ / per_stored_) + group / per_stored_) * from;
      if (stored == type) {
        std::memcpy(out, at, to);
        continue;
      }
      const float wide = number_at(stored, at);
      std::memcpy(out, &wide, sizeof wide);
    }
  }
  /// The numbers of a column of groups are one stream of bits, as in GPTQ.
  void zeros(uint64_t row, std::byte* out) const override {
    const uint64_t groups = groups_ / per_stored_;
    for (uint64_t group = 0; group < groups_; ++group) {
      const auto word = [&](uint64_t i) {
        return word_at(zeros_, i * groups + group / per_stored_);
      };
      out[group] = std::byte(number_of(word, row, format_.bits));
    }
  }
  bool flips() const override { return format_.bits == 8 && format_.offset == Offset::kMiddle; }

  uint64_t per_stored_;
  FileBytes scales_, zeros_;
};

}  // namespace

Result<float> factor_of(const TensorFile& file, const StoredMatrix& stored) {
  if (stored.factor == nullptr) return 1.0f;
  TOK_TRY(const FileBytes bytes, file.data(*stored.factor));
  // compressed-tensors divides by the factor, others multiply.
  const float factor = number_at(DType::kF32, bytes.data());
  return stored.factor->name.ends_with(".weight_global_scale") ? 1 / factor : factor;
}

Result<std::unique_ptr<RowSource>> open_scaled(const TensorFile& file, const StoredMatrix& stored) {
  using Format = StoredMatrix::Format;
  TOK_TRY(TensorBytes weight, file.pieces(*stored.weight));
  TOK_TRY(FileBytes scales, file.data(*stored.scales));
  if (stored.format == Format::kScaled) {
    return std::make_unique<ScaledRows>(stored, std::move(weight), std::move(scales));
  }
  if (stored.format == Format::kMicro) {
    TOK_TRY(const float factor, factor_of(file, stored));
    return std::make_unique<MicroRows>(stored, std::move(weight), std::move(scales), factor);
  }
  TOK_CHECK(stored.format == Format::kPacked);
  FileBytes zeros;
  if (stored.zeros != nullptr) {
    TOK_TRY(zeros, file.data(*stored.zeros));
  }
  return std::make_unique<PackedRows>(stored, std::move(weight), std::move(scales),
                                      std::move(zeros));
}

}  // namespace tokamak
