// How the KV cache of a layer stores what it holds, by its type: f32, f16, or u8, which users know
// as q8.
//
// In q8 an element is a byte, 128 plus a whole number of steps from -127 to 127; a step is an f32
// of which each key and each value has its own for every head. A cell holds the bytes of its keys,
// those of its values, and then for each head the step of its key and that of its value. That is
// four bytes more for each head, which the shape says: [cells, 2, kv_heads, head_dim + 4].
#pragma once
#include <optional>
#include <string_view>

#include "graph/graph.h"

namespace tokamak {

inline constexpr DType kQ8Cache = DType::kU8;
/// The bytes of a step.
inline constexpr Dim kCacheStepBytes = 4;
/// In q8 heads have a multiple of that many elements.
inline constexpr Dim kQ8CacheMultiple = 4;

inline Shape cache_shape(DType dtype, Dim cells, Dim kv_heads, Dim head_dim) {
  return {cells, 2, kv_heads, dtype == kQ8Cache ? head_dim + kCacheStepBytes : head_dim};
}

/// Elements of a head in a cache of that type, whose last dimension is `width`.
inline Dim cached_head_dim(DType dtype, Dim width) {
  return dtype == kQ8Cache ? width - kCacheStepBytes : width;
}
inline Dim cached_head_dim(DType dtype, const Shape& shape) {
  return cached_head_dim(dtype, shape.back());
}

/// Keys and values of each head; with a window of the last positions only.
inline StateSpec kv_cache_spec(Dim kv_heads, Dim head_dim, uint32_t window) {
  const auto heads = uint32_t(kv_heads), width = uint32_t(head_dim);
  return {window == 0 ? StateKind::kPages : StateKind::kRing,
          {{"k", heads, width}, {"v", heads, width}}};
}
/// Whether it holds keys and values alike, as its type and shape say.
inline bool holds_keys_and_values(const TensorDesc& value) {
  if (value.storage != Storage::kState || !value.state || value.state->streams.empty()) {
    return false;
  }
  const StateStream& keys = value.state->streams.front();
  const Dim heads{keys.heads}, head_dim{keys.width};
  return value.state == kv_cache_spec(heads, head_dim, value.window) && !value.shape.empty() &&
         value.shape == cache_shape(value.dtype, value.shape[0], heads, head_dim);
}

/// The latent of each position and the turned part of its keys, one after the other (LatentAppend).
/// There is no q8 of them.
inline StateSpec latent_cache_spec(Dim rank, Dim turned) {
  return {StateKind::kPages, {{"latent", 1, uint32_t(rank)}, {"turned", 1, uint32_t(turned)}}};
}
/// Whether it holds latents, as its type and shape say.
inline bool holds_latents(const TensorDesc& value) {
  if (value.storage != Storage::kState || !value.state || value.state->streams.size() != 2 ||
      value.shape.size() != 2 || value.dtype == kQ8Cache) {
    return false;
  }
  const Dim rank{value.state->streams[0].width}, turned{value.state->streams[1].width};
  return value.state == latent_cache_spec(rank, turned) && value.shape[1] == rank + turned;
}

/// "f32", "f16" or "q8".
inline std::string_view cache_type_name(DType dtype) {
  return dtype == kQ8Cache ? "q8" : dtype_name(dtype);
}
inline std::optional<DType> cache_type_from_name(std::string_view name) {
  for (const DType dtype : {DType::kF32, DType::kF16, kQ8Cache}) {
    if (cache_type_name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

}  // namespace tokamak
