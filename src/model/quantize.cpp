// Rounds floats to kQ8_0 and kQ4_0. Reference: quantize_row_q8_0_ref and quantize_row_q4_0_ref in
// ggml/src/ggml-quants.c, bit by bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/bits.h"
#include "base/check.h"
#include "model/repack.h"

namespace tokamak {
namespace {

constexpr size_t kBlock = 32;

/// The value of the largest magnitude; NaN when one is no finite number.
float largest(std::span<const float> values) {
  float found = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return std::numeric_limits<float>::quiet_NaN();
    if (std::abs(value) > std::abs(found)) found = value;
  }
  return found;
}

std::byte* store_scale(float scale, std::byte* out) {
  const uint16_t half = f32_to_f16(scale);
  std::memcpy(out, &half, sizeof half);
  return out + sizeof half;
}

/// The numbers of a block are all 0 beside a scale that is no number.
float inverse(float scale) {
  return scale == 0 || std::isnan(scale) ? 0.0f : 1.0f / scale;
}

float finite(float value) {
  return std::isfinite(value) ? value : 0.0f;
}

void quantize_q8(std::span<const float> values, std::byte* out) {
  const float scale = std::abs(largest(values)) / 127.0f, factor = inverse(scale);
  out = store_scale(scale, out);
  for (size_t i = 0; i < kBlock; ++i) {
    const float q = std::clamp(std::round(finite(values[i] * factor)), -127.0f, 127.0f);
    out[i] = std::byte(uint8_t(int8_t(q)));
  }
}

void quantize_q4(std::span<const float> values, std::byte* out) {
  const float scale = largest(values) / -8.0f, factor = inverse(scale);
  out = store_scale(scale, out);
  const auto q = [&](size_t i) {
    return uint32_t(std::clamp(finite(values[i] * factor) + 8.5f, 0.0f, 15.5f));
  };
  for (size_t i = 0; i < kBlock / 2; ++i) out[i] = std::byte(q(i) | q(i + kBlock / 2) << 4);
}

class QuantizedRows final : public RowSource {
 public:
  QuantizedRows(std::unique_ptr<RowSource> floats, DType stored, uint64_t columns, DType type)
      : floats_(std::move(floats)), stored_(stored), columns_(size_t(columns)), type_(type) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    const size_t row_bytes = columns_ * dtype_bytes(stored_);
    TOK_TRY(const FileBytes stored, floats_->view(Stream::kLow, first, count));
    // All at once: to a transposed matrix a row alone is as far to read as many.
    std::vector<std::byte> made(stored.empty() ? size_t(count) * row_bytes : 0);
    if (stored.empty()) {
      TOK_TRY(floats_->write(Stream::kLow, first, count, made.data(), row_bytes));
    }
    const std::byte* const floats = stored.empty() ? made.data() : stored.data();
    std::vector<float> row(columns_);
    std::vector<std::byte> blocks(size_t(block_row_bytes(type_, columns_)));
    for (uint64_t i = 0; i < count; ++i) {
      load_floats(stored_, floats + size_t(i) * row_bytes, row);
      quantize_row(type_, row, blocks.data());
      repack_block_row(type_, stream, blocks.data(), columns_, out + size_t(i) * stride);
    }
    return {};
  }

 private:
  std::unique_ptr<RowSource> floats_;
  DType stored_;
  size_t columns_;
  DType type_;
};

}  // namespace

void quantize_row(DType type, std::span<const float> row, std::byte* blocks) {
  TOK_CHECK(row.size() % kBlock == 0 && (type == DType::kQ8_0 || type == DType::kQ4_0));
  const size_t step = size_t(block_row_bytes(type, kBlock));
  for (size_t at = 0; at < row.size(); at += kBlock, blocks += step) {
    const auto values = row.subspan(at, kBlock);
    if (type == DType::kQ8_0) {
      quantize_q8(values, blocks);
    } else {
      quantize_q4(values, blocks);
    }
  }
}

std::unique_ptr<RowSource> quantize_rows(std::unique_ptr<RowSource> floats, DType stored,
                                         uint64_t columns, DType type) {
  return std::make_unique<QuantizedRows>(std::move(floats), stored, columns, type);
}

}  // namespace tokamak
