// Layouts: ggml/src/ggml-common.h (block_q2_K ... block_q6_K). A block of 256 weights has runs of
// 16 or 32 with small whole factors each, and one or two f16 that those are multiplied by.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"
#include "quantize/encode.h"
#include "quantize/scale_search.h"

namespace tokamak {
namespace {

constexpr size_t kSuper = 256, kMaxRuns = 16;
using Numbers = std::array<uint32_t, kSuper>;
using Small = std::array<int, kMaxRuns>;

/// A block's numbers, the lowest one being 0, its small factors and its f16.
struct SuperBlock {
  Numbers q{};
  Small scales{}, offsets{};
  uint16_t scale = 0, offset = 0;
};

/// The values of a block, and what an error of each counts.
class Block {
 public:
  /// `root`: a weight is |x| plus their root mean square; else it is x^2.
  Block(std::span<const float> values, std::span<const float> importance, size_t runs, bool root)
      : values_(values), size_(kSuper / runs) {
    const float square = mean_square(values);
    for (size_t i = 0; i < kSuper; ++i) {
      const float x = values[i];
      if (!importance.empty()) {
        weights_[i] = importance[i] * std::sqrt(square + x * x);
      } else {
        weights_[i] = root ? root_of(i) + std::abs(x) : x * x;
      }
    }
  }

  size_t runs() const { return kSuper / size_; }
  size_t run_size() const { return size_; }
  Run run(size_t i) const {
    return {values_.subspan(i * size_, size_), std::span(weights_).subspan(i * size_, size_)};
  }

 private:
  static float mean_square(std::span<const float> values) {
    double sum = 0;
    for (const float x : values) sum += double(x) * double(x);
    return float(sum / double(values.size()));
  }
  /// The root mean square of the run of value i.
  float root_of(size_t i) {
    if (i % size_ == 0) root_ = std::sqrt(mean_square(values_.subspan(i, size_)));
    return root_;
  }

  std::span<const float> values_;
  size_t size_;
  float root_ = 0;
  std::array<float, kSuper> weights_{};
};

/// The f16 that the factors of all runs are small multiples of.
uint16_t common_factor(const std::array<float, kMaxRuns>& factors,
                       const std::array<float, kMaxRuns>& weights, size_t runs,
                       const LevelRange& levels) {
  const Run run{std::span(factors).first(runs), std::span(weights).first(runs)};
  return f32_to_f16(find_scale(run, levels));
}

/// The small factors beside the nearest one: rounding it is not all that the error depends on.
std::array<float, 3> around(float factor, float unit, const LevelRange& levels) {
  const float nearest = nearest_level(factor, {unit, 0}, levels);
  const auto inside = [&](float k) { return std::clamp(k, levels.lowest, levels.highest); };
  return {nearest, inside(nearest - 1), inside(nearest + 1)};
}

void put_numbers(const Block& block, size_t run, const Factors& factors, const LevelRange& levels,
                 SuperBlock& out) {
  const Run values = block.run(run);
  for (size_t i = 0; i < values.values.size(); ++i) {
    const float q = nearest_level(values.values[i], factors, levels);
    out.q[run * block.run_size() + i] = uint32_t(q - levels.lowest);
  }
}

/// w = scale * scales[run] * q
SuperBlock fit_scales(const Block& block, const LevelRange& levels, const LevelRange& small) {
  std::array<float, kMaxRuns> scales{}, weights{};
  for (size_t i = 0; i < block.runs(); ++i) {
    scales[i] = find_scale(block.run(i), levels);
    weights[i] = weight_of_scale(block.run(i), {scales[i], 0}, levels);
  }
  SuperBlock out;
  out.scale = common_factor(scales, weights, block.runs(), small);
  const float unit = f16_to_f32(out.scale);
  for (size_t i = 0; i < block.runs(); ++i) {
    float best = 0;
    double least = -1;
    for (const float k : around(scales[i], unit, small)) {
      const double error = error_of(block.run(i), {unit * k, 0}, levels);
      if (least >= 0 && error >= least) continue;
      least = error;
      best = k;
    }
    out.scales[i] = int(best);
    put_numbers(block, i, {unit * best, 0}, levels, out);
  }
  return out;
}

/// w = scale * scales[run] * q - offset * offsets[run]
SuperBlock fit_scales_and_offsets(const Block& block, float highest, float most) {
  const LevelRange levels{0, highest}, small{0, most};
  std::array<float, kMaxRuns> scales{}, offsets{}, scale_weights{}, offset_weights{};
  for (size_t i = 0; i < block.runs(); ++i) {
    const Run run = block.run(i);
    const Factors found = find_factors(run, highest);
    scales[i] = found.scale;
    offsets[i] = found.offset;
    scale_weights[i] = weight_of_scale(run, found, levels);
    for (const float weight : run.weights) offset_weights[i] += weight;
  }
  SuperBlock out;
  out.scale = common_factor(scales, scale_weights, block.runs(), small);
  out.offset = common_factor(offsets, offset_weights, block.runs(), small);
  const float unit = f16_to_f32(out.scale), offset_unit = f16_to_f32(out.offset);
  for (size_t i = 0; i < block.runs(); ++i) {
    Factors best;
    double least = -1;
    for (const float k : around(scales[i], unit, small)) {
      for (const float m : around(offsets[i], offset_unit, small)) {
        const Factors factors{unit * k, offset_unit * m};
        const double error = error_of(block.run(i), factors, levels);
        if (least >= 0 && error >= least) continue;
        least = error;
        best = factors;
        out.scales[i] = int(k);
        out.offsets[i] = int(m);
      }
    }
    put_numbers(block, i, best, levels, out);
  }
  return out;
}

void put_half(uint16_t half, std::byte* out) {
  std::memcpy(out, &half, sizeof half);
}

void add_bits(std::byte& byte, uint32_t bits, uint32_t shift) {
  byte |= std::byte(bits << shift & 255);
}

/// In each half of 128, bits 2k and 2k+1 of byte i are of weight 32 k + i.
void put_pairs(const Numbers& q, std::byte* out) {
  for (uint32_t i = 0; i < kSuper; ++i) {
    add_bits(out[i / 128 * 32 + i % 32], q[i] & 3, i % 128 / 32 * 2);
  }
}

void put_q2_k(const SuperBlock& block, std::byte* out) {
  for (size_t i = 0; i < 16; ++i) {
    out[i] = std::byte(uint32_t(block.scales[i]) | uint32_t(block.offsets[i]) << 4);
  }
  put_pairs(block.q, out + 16);
  put_half(block.scale, out + 80);
  put_half(block.offset, out + 82);
}

void put_q3_k(const SuperBlock& block, std::byte* out) {
  for (uint32_t i = 0; i < kSuper; ++i) add_bits(out[i % 32], block.q[i] >> 2, i / 32);
  put_pairs(block.q, out + 32);
  for (uint32_t i = 0; i < 16; ++i) {
    const auto k = uint32_t(block.scales[i] + 32);
    add_bits(out[96 + i % 8], k & 15, i / 8 * 4);
    add_bits(out[104 + i % 4], k >> 4, i / 4 * 2);
  }
  put_half(block.scale, out + 108);
}

/// The f16 of scales and offsets, and their eight pairs of six bits.
void put_six_bits(const SuperBlock& block, std::byte* out) {
  put_half(block.scale, out);
  put_half(block.offset, out + 2);
  std::byte* packed = out + 4;
  for (size_t i = 0; i < 4; ++i) {
    const auto low = uint32_t(block.scales[i]), high = uint32_t(block.scales[i + 4]);
    const auto low_offset = uint32_t(block.offsets[i]),
               high_offset = uint32_t(block.offsets[i + 4]);
    packed[i] = std::byte(low | high >> 4 << 6);
    packed[i + 4] = std::byte(low_offset | high_offset >> 4 << 6);
    packed[i + 8] = std::byte((high & 15) | (high_offset & 15) << 4);
  }
}

/// In each run of 64, the low halves of the bytes are of the first 32 weights.
void put_nibbles(const Numbers& q, std::byte* out) {
  for (uint32_t i = 0; i < kSuper; ++i) {
    add_bits(out[i / 64 * 32 + i % 32], q[i] & 15, i % 64 / 32 * 4);
  }
}

void put_q4_k(const SuperBlock& block, std::byte* out) {
  put_six_bits(block, out);
  put_nibbles(block.q, out + 16);
}

void put_q5_k(const SuperBlock& block, std::byte* out) {
  put_six_bits(block, out);
  for (uint32_t i = 0; i < kSuper; ++i) add_bits(out[16 + i % 32], block.q[i] >> 4, i / 32);
  put_nibbles(block.q, out + 48);
}

void put_q6_k(const SuperBlock& block, std::byte* out) {
  for (uint32_t i = 0; i < kSuper; ++i) {
    const uint32_t half = i / 128, k = i % 128 / 32, q = block.q[i];
    add_bits(out[half * 64 + k % 2 * 32 + i % 32], q & 15, k / 2 * 4);
    add_bits(out[128 + half * 32 + i % 32], q >> 4, 2 * k);
  }
  for (size_t i = 0; i < 16; ++i) out[192 + i] = std::byte(uint8_t(int8_t(block.scales[i])));
  put_half(block.scale, out + 208);
}

struct SuperType {
  std::string_view name;
  size_t runs, bytes;
  LevelRange levels;
  LevelRange small;  // the factors of runs
  bool has_offsets;
  void (*put)(const SuperBlock& block, std::byte* out);
};
constexpr SuperType kTypes[] = {
    {"q2_k", 16, 84, {0, 3}, {0, 15}, true, put_q2_k},
    {"q3_k", 16, 110, {-4, 3}, {-32, 31}, false, put_q3_k},
    {"q4_k", 8, 144, {0, 15}, {0, 63}, true, put_q4_k},
    {"q5_k", 8, 176, {0, 31}, {0, 63}, true, put_q5_k},
    {"q6_k", 16, 210, {-32, 31}, {-128, 127}, false, put_q6_k},
};

}  // namespace

void encode_super_block(DType type, std::span<const float> values,
                        std::span<const float> importance, std::byte* out) {
  const auto* found = std::ranges::find(kTypes, dtype_name(type), &SuperType::name);
  TOK_CHECK(found != std::end(kTypes) && values.size() == kSuper);
  const Block block(values, importance, found->runs, found->has_offsets);
  const SuperBlock fitted =
      found->has_offsets
          ? fit_scales_and_offsets(block, found->levels.highest, found->small.highest)
          : fit_scales(block, found->levels, found->small);
  std::fill_n(out, found->bytes, std::byte{0});
  found->put(fitted, out);
}

}  // namespace tokamak
