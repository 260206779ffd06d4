// What changes from step to step, and nothing else: one small upload, so that a captured plan is
// replayed as it is. The buffer holds this header, then from kFrameTokensOffset the token ids.
// Mirrored by wgsl/frame.wgsl; frame_test.cpp holds the two together.
#pragma once
#include <cstdint>

namespace tokamak {

struct Frame {
  uint32_t tokens = 0;    // tokens in this step
  uint32_t position = 0;  // of the first of them, = tokens already in the cache
  uint32_t length = 0;    // of the sequence with all tokens the host has for it by now
  uint32_t chosen = 0;    // tokens the device chose since the host last wrote a frame
  /// Of steps that end in a list of candidates: what differences of logits are multiplied by before
  /// their exponentials are summed up. Finite.
  float inverse_temperature = 1;
  uint32_t reserved[3] = {};
};
static_assert(sizeof(Frame) == 32);

/// Token ids start here: the smallest alignment every WebGPU device takes for a bound range.
inline constexpr uint32_t kFrameTokensOffset = 256;

/// What a kernel binds of the buffer: one that makes the next frame has the first token id with it.
constexpr uint32_t frame_bytes(bool writes_frame) {
  return writes_frame ? kFrameTokensOffset + 16 : uint32_t(sizeof(Frame));
}

}  // namespace tokamak
