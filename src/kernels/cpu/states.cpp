#include "kernels/cpu/states.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/states.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {
namespace {

/// Calls body(vector, number of them, first column): four neighbouring vectors, whose sums stay in
/// registers, then one, then single columns.
template <typename Body>
HWY_INLINE void over_columns(size_t columns, const Body& body) {
  constexpr size_t kVectors = 4;
  size_t c = 0;
  for (; c + kVectors * kLanes <= columns; c += kVectors * kLanes) {
    body.template run<kVectors>(Floats(), c);
  }
  for (; c + kLanes <= columns; c += kLanes) body.template run<1>(Floats(), c);
  for (; c < columns; ++c) body.template run<1>(hn::CappedTag<float, 1>(), c);
}

struct Read {
  const float *k, *s;
  float* y;
  size_t rows, columns;
  template <size_t kVectors, class D>
  HWY_INLINE void run(D d, size_t c) const {
    const size_t lanes = hn::Lanes(d);
    hn::Vec<D> sums[kVectors];
    for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
    for (size_t r = 0; r < rows; ++r) {
      const auto own = hn::Set(d, k[r]);
      for (size_t v = 0; v < kVectors; ++v) {
        sums[v] = hn::MulAdd(own, hn::LoadU(d, s + r * columns + c + v * lanes), sums[v]);
      }
    }
    for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, y + c + v * lanes);
  }
};
void read_all(const float* k, size_t rows, const float* s, float* y, size_t columns) {
  over_columns(columns, Read{k, s, y, rows, columns});
}

struct Step {
  const float *q, *k, *added;
  float decay;
  float *s, *y;
  size_t rows, columns;
  template <size_t kVectors, class D>
  HWY_INLINE void run(D d, size_t c) const {
    const size_t lanes = hn::Lanes(d);
    hn::Vec<D> sums[kVectors], own[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      sums[v] = hn::Zero(d);
      own[v] = hn::LoadU(d, added + c + v * lanes);
    }
    const auto kept = hn::Set(d, decay);
    for (size_t r = 0; r < rows; ++r) {
      const auto key = hn::Set(d, k[r]), query = hn::Set(d, q[r]);
      for (size_t v = 0; v < kVectors; ++v) {
        float* const at = s + r * columns + c + v * lanes;
        const auto next = hn::MulAdd(key, own[v], hn::Mul(kept, hn::LoadU(d, at)));
        hn::StoreU(next, d, at);
        sums[v] = hn::MulAdd(query, next, sums[v]);
      }
    }
    for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, y + c + v * lanes);
  }
};
void step_all(const float* q, const float* k, size_t rows, float decay, const float* added,
              float* s, float* y, size_t columns) {
  over_columns(columns, Step{q, k, added, decay, s, y, rows, columns});
}

struct Scaled {
  const float* x;
  float factor;
  float* y;
  template <size_t kVectors, class D>
  HWY_INLINE void run(D d, size_t c) const {
    const auto by = hn::Set(d, factor);
    for (size_t v = 0; v < kVectors; ++v) {
      float* const at = y + c + v * hn::Lanes(d);
      const auto own = hn::LoadU(d, x + c + v * hn::Lanes(d));
      hn::StoreU(hn::MulAdd(by, own, hn::LoadU(d, at)), d, at);
    }
  }
};
void add_all_scaled(const float* x, float factor, float* y, size_t count) {
  over_columns(count, Scaled{x, factor, y});
}

}  // namespace
}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tokamak {

HWY_EXPORT(read_all);
HWY_EXPORT(step_all);
HWY_EXPORT(add_all_scaled);

void read_state(std::span<const float> k, std::span<const float> s, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(read_all)(k.data(), k.size(), s.data(), y.data(), y.size());
}

void step_state(std::span<const float> q, std::span<const float> k, float decay,
                std::span<const float> added, std::span<float> s, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(step_all)
  (q.data(), k.data(), k.size(), decay, added.data(), s.data(), y.data(), y.size());
}

void add_scaled(std::span<const float> x, float factor, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(add_all_scaled)(x.data(), factor, y.data(), y.size());
}

}  // namespace tokamak
#endif
