// Layouts: ggml/src/ggml-common.h (block_q4_1, block_q5_0, block_q5_1).
#include "quantize/encode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"
#include "formats/gguf_types.h"
#include "model/repack.h"
#include "quantize/scale_search.h"

namespace tokamak {
namespace {

constexpr size_t kBlock = 32, kSuper = 256;
constexpr float kMaxHalf = 65504;

using Levels = std::array<uint32_t, kBlock>;

std::byte* put_half(float value, std::byte* out) {
  const uint16_t half = f32_to_f16(value);
  std::memcpy(out, &half, sizeof half);
  return out + sizeof half;
}

/// The low halves of the numbers, and the fifth bits before them where there are any.
void put_numbers(const Levels& q, bool has_fifth, std::byte* out) {
  if (has_fifth) {
    uint32_t fifth = 0;
    for (size_t i = 0; i < kBlock; ++i) fifth |= (q[i] >> 4 & 1) << i;
    std::memcpy(out, &fifth, sizeof fifth);
    out += sizeof fifth;
  }
  for (size_t i = 0; i < kBlock / 2; ++i) {
    out[i] = std::byte((q[i] & 15) | (q[i + kBlock / 2] & 15) << 4);
  }
}

float half_of(float value) {
  return f16_to_f32(f32_to_f16(value));
}

/// A search for the factors of the least error, in which each column counts as much as it should.
void encode_weighted(DType type, std::span<const float> values, std::span<const float> importance,
                     std::byte* out) {
  double squares = 0;
  for (const float x : values) squares += double(x) * double(x);
  const auto square = float(squares / double(kBlock));
  std::array<float, kBlock> weights{};
  for (size_t i = 0; i < kBlock; ++i) {
    weights[i] = importance[i] * std::sqrt(square + values[i] * values[i]);
  }
  const Run run{values, weights};
  const bool has_fifth = type == DType::kQ5_0 || type == DType::kQ5_1;
  const bool has_least = type == DType::kQ4_1 || type == DType::kQ5_1;
  const float highest = has_fifth ? 31 : 15, lowest = has_least ? 0 : -(highest + 1) / 2;
  const LevelRange levels{lowest, lowest + highest};
  Factors found = has_least ? find_factors(run, highest) : Factors{find_scale(run, levels), 0};
  found = {half_of(found.scale), half_of(found.offset)};
  out = put_half(found.scale, out);
  if (has_least) out = put_half(-found.offset, out);
  Levels q{};
  for (size_t i = 0; i < kBlock; ++i) {
    q[i] = uint32_t(nearest_level(values[i], found, levels) - lowest);
  }
  put_numbers(q, has_fifth, out);
}

/// w = scale * q + least, of q from 0 to `highest`.
void encode_range(std::span<const float> values, uint32_t highest, std::byte* out) {
  const auto [least, most] = std::ranges::minmax(values);
  const float scale = (most - least) / float(highest);
  const float factor = inverse_of(scale);
  out = put_half(least, put_half(scale, out));
  Levels q{};
  for (size_t i = 0; i < kBlock; ++i) {
    q[i] = std::min(highest, uint32_t((values[i] - least) * factor + 0.5f));
  }
  put_numbers(q, highest > 15, out);
}

void encode_q5_0(std::span<const float> values, std::byte* out) {
  float largest = 0;
  for (const float x : values) {
    if (std::abs(x) > std::abs(largest)) largest = x;
  }
  const float scale = largest / -16;
  const float factor = inverse_of(scale);
  out = put_half(scale, out);
  Levels q{};
  for (size_t i = 0; i < kBlock; ++i) {
    q[i] = std::min(31u, uint32_t(values[i] * factor + 16.5f));
  }
  put_numbers(q, true, out);
}

void encode_block(DType type, std::span<const float> values, std::span<const float> importance,
                  std::byte* out) {
  if (!importance.empty() && type != DType::kQ8_0) {
    return encode_weighted(type, values, importance, out);
  }
  if (type == DType::kQ4_1) return encode_range(values, 15, out);
  if (type == DType::kQ5_1) return encode_range(values, 31, out);
  if (type == DType::kQ5_0) return encode_q5_0(values, out);
  quantize_row(type, values, out);
}

Result<void> check_values(DType type, std::span<const float> row) {
  const bool is_wide = type == DType::kF32 || type == DType::kBF16;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!std::isfinite(row[i])) {
      return invalid_input("column {} is {}, expected a finite number", i, row[i]);
    }
    if (!is_wide && std::abs(row[i]) > kMaxHalf) {
      return invalid_input("column {} is {}, beyond the {} that {} holds; bf16 holds it", i, row[i],
                           kMaxHalf, dtype_name(type));
    }
  }
  return {};
}

}  // namespace

bool is_encoded(DType type) {
  constexpr std::string_view kTypes[] = {"f32",  "f16",  "bf16", "q8_0", "q4_0", "q4_1", "q5_0",
                                         "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"};
  return std::ranges::find(kTypes, dtype_name(type)) != std::end(kTypes);
}

Result<void> encode_row(DType type, std::span<const float> row, std::span<const float> importance,
                        std::byte* out) {
  TOK_CHECK(is_encoded(type));
  TOK_CHECK(importance.empty() || importance.size() == row.size());
  TOK_TRY(check_values(type, row));
  if (is_float_weight(type)) {
    store_floats(type, row, out);
    return {};
  }
  const GgufBlock block = gguf_block(type);
  TOK_CHECK(row.size() % block.weights == 0);
  for (size_t at = 0; at < row.size(); at += block.weights, out += block.bytes) {
    const auto values = row.subspan(at, block.weights);
    const auto counts = importance.empty() ? importance : importance.subspan(at, block.weights);
    if (block.weights == kSuper) {
      encode_super_block(type, values, counts, out);
    } else {
      encode_block(type, values, counts, out);
    }
  }
  return {};
}

}  // namespace tokamak
