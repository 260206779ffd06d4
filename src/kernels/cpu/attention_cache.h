// Heads of a cache as f32; as vectors.h, it is read once for each instruction set.
#if defined(TOKAMAK_CPU_ATTENTION_CACHE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOKAMAK_CPU_ATTENTION_CACHE_H
#undef TOKAMAK_CPU_ATTENTION_CACHE_H
#else
#define TOKAMAK_CPU_ATTENTION_CACHE_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

#include "graph/kv_cache.h"
#include "kernels/cpu/attention_task.h"
#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace tokamak::HWY_NAMESPACE {

/// Positions from a cell that is read to one that is asked for, and bytes that come at once.
constexpr size_t kAhead = 16, kLine = 64;

/// Keys (part 0) or values (1) of positions [begin, end) of the piece's head, [position][width]. A
/// cache that has one part in a cell has the same for both.
inline void load_block(const AttentionTask& task, size_t part, size_t begin, size_t end,
                       float* to) {
  const CpuTensor& cache = *task.work.cache;
  const std::span<const uint32_t> pages = task.pages();
  const size_t heads = cache.dims[2], d = head_dim_of(cache), stride = cache.dims[3];
  const size_t width = task.width(), head = task.piece.kv_head, parts = cache.dims[1];
  const size_t element = dtype_bytes(cache.dtype), bytes = d * element;
  const auto cell_of = [&](size_t position) {
    return pages[position / kPageTokens] * kPageTokens + position % kPageTokens;
  };
  for (size_t position = begin; position < end; ++position, to += width) {
    const size_t cell = cell_of(position);
    // Heads are too far apart for a processor to see which comes next.
    const size_t later = cell_of(std::min(position + kAhead, task.piece.end - 1));
    const size_t head_begin = later * parts * heads * stride + (part % parts * heads + head) * d;
    for (size_t at = 0; at < bytes; at += kLine) {
      hwy::Prefetch(cache.data + head_begin * element + at);
    }
    if (cache.dtype == kQ8Cache) {
      const std::byte* own = cache.data + cell * 2 * heads * stride;
      const std::byte* from = own + (part * heads + head) * d;
      float step = 0;
      std::memcpy(&step, own + 2 * heads * d + (2 * head + part) * sizeof(float), sizeof step);
      const F steps = hn::Set(Floats(), step), middle = hn::Set(Floats(), 128.0f);
      size_t i = 0;
      for (; i + kLanes <= d; i += kLanes) {
        hn::StoreU(hn::Mul(hn::Sub(load_bytes(from + i), middle), steps), Floats(), to + i);
      }
      for (; i < d; ++i) to[i] = (float(uint8_t(from[i])) - 128.0f) * step;
    } else {
      const size_t first = ((cell * parts + part % parts) * heads + head) * d;
      if (cache.dtype == DType::kF32) {
        std::memcpy(to, cache.data + 4 * first, d * sizeof(float));
      } else {
        const std::byte* own = cache.data + 2 * first;
        size_t i = 0;
        for (; i + kLanes <= d; i += kLanes) hn::StoreU(load_f16(own + 2 * i), Floats(), to + i);
        for (; i < d; ++i) to[i] = cache.load(first + i);
      }
    }
    std::fill(to + d, to + width, 0.0f);
  }
}

}  // namespace tokamak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
