// The cache as the CPU reads and writes it: one head at a time, whatever its type.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "graph/kv_cache.h"
#include "kernels/attention/attention.h"

namespace tokamak {
namespace {

size_t cell_of(const CpuTensor& cache, std::span<const uint32_t> pages, size_t position) {
  const size_t cell = pages[position / kPageTokens] * kPageTokens + position % kPageTokens;
  TOK_CHECK(cell < cache.dims[0]);
  return cell;
}

/// The first element of the head, where elements have bytes of their own.
size_t first_element(const CpuTensor& cache, std::span<const uint32_t> pages,
                     const CachedHead& head) {
  const size_t cell = cell_of(cache, pages, head.position);
  return ((cell * 2 + head.part) * cache.dims[2] + head.head) * cache.dims[3];
}

/// A head in q8.
struct Q8Head {
  uint8_t* bytes;
  std::byte* step;
};

Q8Head q8_head(const CpuTensor& cache, std::span<const uint32_t> pages, const CachedHead& head) {
  const size_t heads = cache.dims[2], head_dim = head_dim_of(cache);
  std::byte* cell = cache.data + cell_of(cache, pages, head.position) * 2 * heads * cache.dims[3];
  std::byte* steps = cell + 2 * heads * head_dim;
  return {reinterpret_cast<uint8_t*>(cell) + (head.part * heads + head.head) * head_dim,
          steps + (2 * head.head + head.part) * sizeof(float)};
}

constexpr float kMaxSteps = 127;

void store_q8(const Q8Head& head, std::span<const float> values) {
  // See attention.h; what is infinite becomes the largest number.
  constexpr float kZero = 0x1p-100f, kMax = 3.4e38f;
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  largest = largest < kZero ? 0 : std::min(largest, kMax);
  float step = largest / kMaxSteps;
  const float inverse = step == 0 ? 0 : 1 / step;
  for (size_t i = 0; i < values.size(); ++i) {
    const float steps = std::nearbyint(values[i] * inverse);
    // A byte cannot tell what is no number, but the step can, and whoever reads the head sees it.
    if (std::isnan(steps)) step = steps;
    const float held = std::isnan(steps) ? 1 : std::clamp(steps, -kMaxSteps, kMaxSteps);
    head.bytes[i] = uint8_t(128 + int(held));
  }
  std::memcpy(head.step, &step, sizeof step);
}

void load_q8(const Q8Head& head, std::span<float> values) {
  float step = 0;
  std::memcpy(&step, head.step, sizeof step);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(int(head.bytes[i]) - 128) * step;
}

}  // namespace

size_t head_dim_of(const CpuTensor& cache) {
  return size_t(cached_head_dim(cache.dtype, Dim{cache.dims[3]}));
}
uint32_t head_dim_of(const TensorDesc& cache) {
  return uint32_t(cached_head_dim(cache.dtype, cache.shape));
}

void store_cached(const CpuTensor& cache, std::span<const uint32_t> pages, const CachedHead& head,
                  std::span<const float> values) {
  if (cache.dtype == kQ8Cache) return store_q8(q8_head(cache, pages, head), values);
  constexpr float kMax = 65504;
  const size_t first = first_element(cache, pages, head);
  for (size_t i = 0; i < values.size(); ++i) {
    cache.store(first + i,
                cache.dtype == DType::kF16 ? std::clamp(values[i], -kMax, kMax) : values[i]);
  }
}

void load_cached(const CpuTensor& cache, std::span<const uint32_t> pages, const CachedHead& head,
                 std::span<float> values) {
  if (cache.dtype == kQ8Cache) return load_q8(q8_head(cache, pages, head), values);
  const size_t first = first_element(cache, pages, head);
  for (size_t i = 0; i < values.size(); ++i) values[i] = cache.load(first + i);
}

}  // namespace tokamak
