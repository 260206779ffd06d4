// The part that operations with a matrix per head share; recurrence.wgsl has the kernels' text.
#pragma once
#include <cmath>

#include "kernels/launch.h"

namespace tokamak {

inline double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

inline std::string recurrence_refuses(const Problem& p, const DeviceInfo&) {
  const uint32_t dk = uint32_t(p.outputs[1].shape[1]);
  return dk <= 1024 ? "" : fmt::format("keys of {} elements exceed 1024", dk);
}

/// Constants of a kernel's `own` with the sizes that all of them have.
inline std::vector<Constant> with_sizes(const Problem& p, std::vector<Constant> own) {
  const Shape& state = p.outputs[1].shape;
  own.insert(own.end(), {{"HEADS", uint32_t(state[0])},
                         {"DK", uint32_t(state[1])},
                         {"DV", uint32_t(state[2])},
                         {"WIDTH", uint32_t(p.inputs[0].shape[1])},
                         {"NUMBERS", uint32_t(p.inputs[1].shape[1])}});
  return own;
}

/// The launch of a kernel with the text delta/NAME.wgsl and constants of its `own`.
inline Launch recurrence_launch(const Problem& p, std::string_view name,
                                std::vector<Constant> own) {
  // 8192 of the 16384 bytes of workgroup memory hold the q and k of some tokens.
  constexpr uint32_t kStagedBytes = 8192;
  const Shape& state = p.outputs[1].shape;
  const uint32_t heads = uint32_t(state[0]), dk = uint32_t(state[1]), dv = uint32_t(state[2]);
  const uint32_t cols = power_of_two(dv, 8, 32), parts = power_of_two(dk / 16, 1, 8);
  const uint32_t quads = ceil_div(dk, 4 * parts), threads = cols * parts;
  const uint32_t row_bytes = quads * parts * 4 * uint32_t(sizeof(float));
  const uint32_t most = std::min({p.max_tokens, threads, 16u});
  const uint32_t tokens = power_of_two(kStagedBytes / (2 * row_bytes), 1, std::bit_floor(most));
  own = with_sizes(p, std::move(own));
  own.insert(own.end(), {{"COLS", cols},
                         {"PARTS", parts},
                         {"QUADS", quads},
                         {"TOKENS", tokens},
                         {"LOADERS", std::min(threads / tokens, 16u)}});
  return {.constants = std::move(own),
          .sources = {"delta/rule.wgsl", fmt::format("delta/{}.wgsl", name),
                      "delta/recurrence.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(dv, cols)}, .y = {heads}, .z = {1, 0, true}}};
}

}  // namespace tokamak
