#include "kernels/cpu/arrays.h"

#include <cmath>
#include <string_view>

#include "kernels/cpu/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/arrays.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vectors.h"
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

/// Calls body(vector number of elements from i on, i), the rest by one shorter call.
template <typename Body>
HWY_INLINE void over(size_t count, const Body& body) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) body(Floats(), i);
  for (; i < count; ++i) body(hn::CappedTag<float, 1>(), i);
}

template <class D>
HWY_INLINE hn::Vec<D> sigmoid(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  // Beyond this e^-x is no f32; the result is 0 or next to it.
  const auto bounded = hn::Max(hn::Min(x, hn::Set(d, 88.0f)), hn::Set(d, -87.0f));
  return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(bounded))));
}

/// x erfc(-x / sqrt(2)) / 2. Of z = |x| / sqrt(2), erfc(z) = e^-z² t q(t) with t = 1 / (1 + 0.275
/// z) and a polynomial q that was fitted to it from 0 to 10 with relative errors of at most 4e-9.
template <class D>
HWY_INLINE hn::Vec<D> gelu_by_erf(D d, hn::Vec<D> x) {
  constexpr float kSqrtHalf = 0.70710678118654752f, kMaxZ = 12;  // e^-144 is 0
  constexpr float kQ[] = {-0.13515270f, 0.57259506f, -0.79893512f, 0.88018328f, -0.39094621f,
                          0.32088032f,  0.08332484f, 0.15863304f,  0.15422520f, 0.15519229f};
  const auto one = hn::Set(d, 1.0f);
  const auto size = hn::Mul(hn::Abs(x), hn::Set(d, kSqrtHalf));
  const auto z = hn::Min(size, hn::Set(d, kMaxZ));
  const auto t = hn::Div(one, hn::MulAdd(z, hn::Set(d, 0.275f), one));
  auto q = hn::Set(d, kQ[0]);
  for (size_t i = 1; i < std::size(kQ); ++i) q = hn::MulAdd(q, t, hn::Set(d, kQ[i]));
  const auto tail = hn::Mul(hn::Mul(hn::Set(d, 0.5f), t), q);
  const auto below = hn::Mul(tail, hn::Exp(d, hn::Neg(hn::Mul(z, z))));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, hn::Sub(one, below)));
}

template <Activation kActivation, class D>
HWY_INLINE hn::Vec<D> activated(D d, hn::Vec<D> x) {
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  if constexpr (kActivation == Activation::kSilu) {
    return hn::Mul(x, sigmoid(d, x));
  } else if constexpr (kActivation == Activation::kSigmoid) {
    return sigmoid(d, x);
  } else if constexpr (kActivation == Activation::kGeluTanh) {
    // 0.5 (1 + tanh(u)) is the sigmoid of 2u.
    constexpr float kTwiceSqrt2OverPi = 1.5957691216057308f;
    const auto cube = hn::Mul(hn::Mul(x, x), x);
    const auto u = hn::MulAdd(cube, hn::Set(d, 0.044715f), x);
    return hn::Mul(x, sigmoid(d, hn::Mul(u, hn::Set(d, kTwiceSqrt2OverPi))));
  } else if constexpr (kActivation == Activation::kGeluErf) {
    return gelu_by_erf(d, x);
  } else if constexpr (kActivation == Activation::kTanh) {
    return hn::Tanh(d, x);
  } else if constexpr (kActivation == Activation::kRelu) {
    return hn::Max(x, zero);
  } else if constexpr (kActivation == Activation::kReluSquared) {
    const auto positive = hn::Max(x, zero);
    return hn::Mul(positive, positive);
  } else if constexpr (kActivation == Activation::kElu) {
    return hn::Add(hn::Max(x, zero), hn::Sub(hn::Exp(d, hn::Min(x, zero)), one));
  } else if constexpr (kActivation == Activation::kGeluQuick) {
    return hn::Mul(x, sigmoid(d, hn::Mul(x, hn::Set(d, 1.702f))));
  } else {
    return x;
  }
}

template <typename Body>
void with_activation(Activation activation, const Body& body) {
  using enum Activation;
  switch (activation) {
    case kSilu:
      return body.template run<kSilu>();
    case kGeluTanh:
      return body.template run<kGeluTanh>();
    case kSigmoid:
      return body.template run<kSigmoid>();
    case kIdentity:
      return body.template run<kIdentity>();
    case kGeluErf:
      return body.template run<kGeluErf>();
    case kTanh:
      return body.template run<kTanh>();
    case kRelu:
      return body.template run<kRelu>();
    case kReluSquared:
      return body.template run<kReluSquared>();
    case kElu:
      return body.template run<kElu>();
    case kGeluQuick:
      return body.template run<kGeluQuick>();
  }
}

struct Activated {
  const float* x;
  float* y;
  size_t count;
  template <Activation kActivation>
  void run() const {
    over(count, [&](auto d, size_t i) HWY_ATTR {
      hn::StoreU(activated<kActivation>(d, hn::LoadU(d, x + i)), d, y + i);
    });
  }
};
void activate_all(Activation activation, const float* x, float* y, size_t count) {
  with_activation(activation, Activated{x, y, count});
}

struct Gated {
  const float *gate, *up;
  float* y;
  size_t count;
  template <Activation kActivation>
  void run() const {
    over(count, [&](auto d, size_t i) HWY_ATTR {
      const auto g = activated<kActivation>(d, hn::LoadU(d, gate + i));
      hn::StoreU(hn::Mul(g, hn::LoadU(d, up + i)), d, y + i);
    });
  }
};
void gate_all(Activation activation, const float* gate, const float* up, float* y, size_t count) {
  with_activation(activation, Gated{gate, up, y, count});
}

void gate_all_pairs(Activation activation, const float* x, float* y, size_t count) {
  constexpr size_t kAtOnce = 64;
  alignas(64) float gate[kAtOnce], up[kAtOnce];
  for (size_t first = 0; first < count; first += kAtOnce) {
    const size_t n = HWY_MIN(count - first, kAtOnce);
    for (size_t i = 0; i < n; ++i) {
      gate[i] = x[2 * (first + i)];
      up[i] = x[2 * (first + i) + 1];
    }
    gate_all(activation, gate, up, y + first, n);
  }
}

void add_all(const float* a, const float* b, float* y, size_t count) {
  over(count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  });
}

void multiply_all(const float* a, const float* b, float* y, size_t count) {
  over(count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  });
}

void add_all_products(const float* a, const float* b, float* y, size_t count) {
  over(count, [&](auto d, size_t i) HWY_ATTR {
    const auto sum = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, y + i));
    hn::StoreU(sum, d, y + i);
  });
}

/// The sum of value(d, i) for all elements, vectors of four in f32 sums of their own.
template <typename Value>
HWY_INLINE double sum_over(size_t count, const Value& value) {
  const Floats f;
  F sums[4] = {hn::Zero(f), hn::Zero(f), hn::Zero(f), hn::Zero(f)};
  size_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    for (size_t part = 0; part < 4; ++part) {
      sums[part] = hn::Add(sums[part], value(f, i + part * kLanes));
    }
  }
  double sum = double(sum_of(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) sum += double(hn::GetLane(value(one, i)));
  return sum;
}

double sum_all(const float* x, size_t count) {
  return sum_over(count, [&](auto d, size_t i) HWY_ATTR { return hn::LoadU(d, x + i); });
}

double sum_all_squares(const float* x, float mean, size_t count) {
  return sum_over(count, [&](auto d, size_t i) HWY_ATTR {
    const auto off = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    return hn::Mul(off, off);
  });
}

void scale_all_distances(const float* x, float mean, float scale, const float* w, const float* bias,
                         float* y, size_t count) {
  over(count, [&](auto d, size_t i) HWY_ATTR {
    const auto off = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    const auto normed = hn::Mul(off, hn::Set(d, scale));
    const auto shift = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + i);
    hn::StoreU(hn::MulAdd(normed, hn::LoadU(d, w + i), shift), d, y + i);
  });
}

void snake_all(const float* x, const float* rates, float* y, size_t count) {
  over(count, [&](auto d, size_t i) HWY_ATTR {
    const auto own = hn::LoadU(d, x + i), rate = hn::LoadU(d, rates + i);
    const auto sine = hn::Sin(d, hn::Mul(rate, own));
    const auto share = hn::Div(hn::Mul(sine, sine), hn::Add(rate, hn::Set(d, 1e-9f)));
    hn::StoreU(hn::Add(own, share), d, y + i);
  });
}

void norm_all(const float* x, const float* w, float eps, float* y, size_t count) {
  const double sum = sum_over(count, [&](auto d, size_t i) HWY_ATTR {
    const auto own = hn::LoadU(d, x + i);
    return hn::Mul(own, own);
  });
  const float scale = float(1.0 / std::sqrt(sum / double(count) + double(eps)));
  over(count, [&](auto d, size_t at) HWY_ATTR {
    const auto scaled = hn::Mul(hn::LoadU(d, x + at), hn::Set(d, scale));
    hn::StoreU(hn::Mul(scaled, hn::LoadU(d, w + at)), d, y + at);
  });
}

void cap_all(float cap, const float* x, float* y, size_t count) {
  over(count, [&](auto d, size_t i) HWY_ATTR {
    const auto t = hn::Tanh(d, hn::Mul(hn::LoadU(d, x + i), hn::Set(d, 1 / cap)));
    hn::StoreU(hn::Mul(t, hn::Set(d, cap)), d, y + i);
  });
}

std::string_view set_name() {
  switch (HWY_TARGET) {
    case HWY_AVX3_DL:
      return "AVX-512 VNNI";
    case HWY_AVX2:
      return "AVX2";
    case HWY_NEON:
      return "NEON";
    case HWY_WASM:
      return "WebAssembly SIMD";
    default:
      return "SSE4";
  }
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(activate_all);
HWY_EXPORT(gate_all);
HWY_EXPORT(gate_all_pairs);
HWY_EXPORT(add_all);
HWY_EXPORT(multiply_all);
HWY_EXPORT(add_all_products);
HWY_EXPORT(sum_all);
HWY_EXPORT(sum_all_squares);
HWY_EXPORT(scale_all_distances);
HWY_EXPORT(snake_all);
HWY_EXPORT(norm_all);
HWY_EXPORT(cap_all);
HWY_EXPORT(set_name);

std::string_view vector_set() {
  // Bits are ordered: what is better is lower. Every arm64 has NEON; Highway 1.0.3 asks for AES as
  // well, which no kernel uses.
  constexpr int64_t kSets = HWY_STATIC_TARGET | (HWY_STATIC_TARGET - 1);
  if (HWY_ARCH_X86 && (HWY_SUPPORTED_TARGETS & kSets) == 0) return "";
  return HWY_DYNAMIC_DISPATCH(set_name)();
}

void activate_array(Activation activation, std::span<const float> x, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(activate_all)(activation, x.data(), y.data(), x.size());
}

void gate_arrays(Activation activation, std::span<const float> gate, std::span<const float> up,
                 std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(gate_all)(activation, gate.data(), up.data(), y.data(), y.size());
}

void gate_pairs(Activation activation, std::span<const float> x, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(gate_all_pairs)(activation, x.data(), y.data(), y.size());
}

void add_arrays(std::span<const float> a, std::span<const float> b, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(add_all)(a.data(), b.data(), y.data(), y.size());
}

void norm_array(std::span<const float> x, std::span<const float> w, float eps, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(norm_all)(x.data(), w.data(), eps, y.data(), w.size());
}

void multiply_arrays(std::span<const float> a, std::span<const float> b, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(multiply_all)(a.data(), b.data(), y.data(), y.size());
}

void add_products(std::span<const float> a, std::span<const float> b, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(add_all_products)(a.data(), b.data(), y.data(), y.size());
}

double sum_array(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(sum_all)(x.data(), x.size());
}

double sum_squares(std::span<const float> x, float mean) {
  return HWY_DYNAMIC_DISPATCH(sum_all_squares)(x.data(), mean, x.size());
}

void scale_distances(std::span<const float> x, float mean, float scale, std::span<const float> w,
                     std::span<const float> bias, std::span<float> y) {
  const float* const shift = bias.empty() ? nullptr : bias.data();
  HWY_DYNAMIC_DISPATCH(scale_all_distances)
  (x.data(), mean, scale, w.data(), shift, y.data(), w.size());
}

void snake_array(std::span<const float> x, std::span<const float> rates, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(snake_all)(x.data(), rates.data(), y.data(), rates.size());
}

void cap_array(float cap, std::span<const float> x, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(cap_all)(cap, x.data(), y.data(), x.size());
}

}  // namespace tokamak
#endif
