#include "invariants/random_graph.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/bits.h"
#include "base/splitmix.h"
#include "graph/builder.h"

namespace tokamak::invariants {
namespace {

/// The distributions of <random> differ between libraries.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  /// In [0, count).
  uint32_t roll(uint32_t count) { return uint32_t(next() >> 33) % count; }
  bool coin() { return roll(2) == 0; }
  /// In [-1, 1).
  float value() { return float(next() >> 40) / float(1 << 23) - 1.0f; }

 private:
  uint64_t next() { return next_random(state_); }
  uint64_t state_;
};

class Maker {
 public:
  explicit Maker(uint32_t seed) : dice_(seed) { tokens_ = b_.input("tokens", {kTokens}); }

  RandomGraph make() {
    width_ = 8 * (1 + dice_.roll(4));
    live_.push_back(lookup());
    const uint32_t blocks = 3 + dice_.roll(5);
    for (uint32_t i = 0; i < blocks; ++i) block();
    // Everything that nothing else uses reaches the result through one sum.
    ValueId sum = live_.front();
    for (size_t i = 1; i < live_.size(); ++i) sum = b_.add(sum, live_[i]);
    RandomGraph out;
    auto graph = b_.finish(linear(norm(sum), kVocab));
    EXPECT_TRUE(graph) << graph.error().message;
    if (graph) out.graph = *std::move(graph);
    auto file = TensorFile::make({memory_source("constants", std::move(bytes_))},
                                 std::move(tensors_), Json::Object{});
    EXPECT_TRUE(file) << file.error().message;
    if (file) out.constants = *std::move(file);
    return out;
  }

 private:
  ValueId weight(Shape shape, DType dtype, float range) {
    const std::string name = fmt::format("w{}", tensors_.size());
    TensorInfo info{.name = name, .dtype = dtype, .shape = {}, .shard = 0, .offset = bytes_.size()};
    for (const Dim dim : shape) info.shape.push_back(uint64_t(dim));
    info.bytes = element_count(shape, 1) * dtype_bytes(dtype);
    for (uint64_t i = 0; i < element_count(shape, 1); ++i) append(range * dice_.value(), dtype);
    tensors_.push_back(info);
    return b_.constant(name, std::move(shape), dtype, Weight{{name}});
  }

  void append(float value, DType dtype) {
    std::byte raw[4];
    if (dtype == DType::kF32) {
      std::memcpy(raw, &value, 4);
    } else {
      const uint16_t half = dtype == DType::kF16 ? f32_to_f16(value) : f32_to_bf16(value);
      std::memcpy(raw, &half, 2);
    }
    bytes_.insert(bytes_.end(), raw, raw + dtype_bytes(dtype));
  }

  DType any_type() {
    constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16};
    return kTypes[dice_.roll(3)];
  }
  ValueId any_live() { return live_[dice_.roll(uint32_t(live_.size()))]; }
  Activation any_activation() { return kActivations[dice_.roll(std::size(kActivations))]; }

  ValueId lookup() {
    ValueId x = b_.embed(tokens_, weight({kVocab, width_}, any_type(), 1));
    if (dice_.coin()) live_.push_back(x);  // a second user: the factor must stay outside
    return dice_.coin() ? b_.scale(x, 0.5f + float(dice_.roll(4))) : x;
  }

  ValueId linear(ValueId x, uint32_t rows) { return linear(x, rows, any_type(), dice_.coin()); }
  ValueId linear(ValueId x, uint32_t rows, DType dtype, bool has_bias) {
    const Dim columns = b_.at(x).shape[1];
    const ValueId w = weight({rows, columns}, dtype, 1.0f / float(columns) * 4);
    if (!has_bias) return b_.linear(x, w);
    return b_.linear(x, w, weight({rows}, DType::kF32, 1));
  }

  ValueId norm(ValueId x) {
    const Dim group = dice_.roll(4) == 0 ? width_ / 2 : width_;
    return b_.rms_norm(x, weight({group}, DType::kF32, 1), 1e-5f);
  }

  /// Three products of one input; sometimes of different kinds, sometimes with other nodes between.
  ValueId three_products(ValueId x) {
    const DType dtype = any_type();
    const bool has_bias = dice_.coin(), odd = dice_.roll(4) == 0;
    ValueId q = linear(x, width_, dtype, has_bias);
    if (dice_.coin()) q = norm(q);
    const ValueId k = linear(x, width_, dtype, odd ? !has_bias : has_bias);
    if (dice_.coin()) live_.push_back(b_.scale(k, 0.5f));
    const ValueId v = linear(x, width_, dtype, has_bias);
    const ValueId qk = b_.add(q, k);
    return b_.add(qk, v);
  }

  ValueId gated(ValueId x) {
    const DType dtype = any_type();
    const bool has_bias = dice_.coin();
    const uint32_t rows = 4 * (1 + dice_.roll(8));
    const ValueId gate = linear(x, rows, dtype, has_bias);
    const ValueId up = dice_.roll(5) == 0 ? gate : linear(x, rows, dtype, has_bias);
    return linear(b_.glu(any_activation(), gate, up), width_);
  }

  /// A convolution of LFM2: three parts of the input, one of them convolved.
  ValueId convolved(ValueId x) {
    const DType dtype = any_type();
    const uint32_t taps = 2 + dice_.roll(4);
    const ValueId before = linear(x, width_, dtype, false);
    ValueId y = linear(x, width_, dtype, false);
    y = b_.glu(Activation::kIdentity, before, y);
    const ValueId w = weight({width_, taps}, DType::kF32, 1);
    const ValueId rows = b_.recurrent(fmt::format("conv.{}", states_++), {Dim{taps} - 1, width_});
    y = b_.short_conv(y, w, rows, any_activation());
    return b_.glu(Activation::kIdentity, linear(x, width_, dtype, false), y);
  }

  /// A delta rule of Qwen3.5, with a gate.
  ValueId delta_rule(ValueId x) {
    const DType dtype = any_type();
    const uint32_t key_heads = 1 + dice_.roll(2), heads = key_heads * (1 + dice_.roll(2));
    const uint32_t dk = 4 + dice_.roll(16), dv = 4 + dice_.roll(16);
    const ValueId qkv = linear(x, 2 * key_heads * dk + heads * dv, dtype, false);
    const ValueId z = linear(x, heads * dv, dtype, false);
    const ValueId ab = linear(x, 2 * heads, dtype, false);
    const ValueId rates = weight({2, heads}, DType::kF32, 1);
    const ValueId s = b_.recurrent(fmt::format("delta.{}", states_++), {heads, dk, dv});
    const ValueId y = b_.gated_delta(qkv, ab, rates, s, {.key_heads = key_heads});
    return linear(b_.glu(Activation::kSilu, z, y), width_);
  }

  /// A sandwich of Gemma: a norm of a product is added, and perhaps scaled.
  ValueId sandwich(ValueId x) {
    const ValueId n = norm(linear(x, width_));
    const ValueId sum = dice_.coin() ? b_.add(any_live(), n) : b_.add(n, any_live());
    return dice_.coin() ? b_.scale(sum, 0.5f + float(dice_.roll(4))) : sum;
  }

  /// A gate of Gemma's per-layer embeddings: some columns of a row gate a product.
  ValueId gated_by_columns(ValueId x) {
    const uint32_t count = 4 * (1 + dice_.roll(4)), first = dice_.roll(9);
    const ValueId row = linear(x, first + count + dice_.roll(9));
    const ValueId own = b_.columns(row, first, count);
    return linear(b_.glu(any_activation(), linear(x, count), own), width_);
  }

  void block() {
    const ValueId x = any_live();
    switch (dice_.roll(10)) {
      case 0:
        live_.push_back(three_products(x));
        break;
      case 1:
        live_.push_back(gated(x));
        break;
      case 2: {
        const ValueId sum = b_.add(x, any_live());
        live_.push_back(norm(sum));
        if (dice_.coin()) live_.push_back(sum);
        break;
      }
      case 3:
        live_.push_back(lookup());
        break;
      case 4:
        live_.push_back(b_.softcap(x, 3));
        break;
      case 5:
        live_.push_back(convolved(x));
        break;
      case 6:
        live_.push_back(delta_rule(x));
        break;
      case 7: {
        const ValueId sum = sandwich(x);
        if (dice_.coin()) live_.push_back(norm(sum));
        live_.push_back(sum);
        break;
      }
      case 8:
        live_.push_back(gated_by_columns(x));
        break;
      default:
        live_.push_back(linear(x, width_));
        break;
    }
  }

  Dice dice_;
  GraphBuilder b_;
  ValueId tokens_ = {};
  uint32_t width_ = 8;
  std::vector<ValueId> live_;  // [T, width_] each
  uint32_t states_ = 0;
  std::vector<TensorInfo> tensors_;
  std::vector<std::byte> bytes_;
};

}  // namespace

RandomGraph random_graph(uint32_t seed) {
  return Maker(seed).make();
}

}  // namespace tokamak::invariants
