// What changes from step to step, and nothing else: one small upload, so that a captured plan is
// replayed as it is. The buffer holds this header, then from kFrameTokensOffset the token ids.
// Mirrored by wgsl/frame.wgsl; kernels_test.cpp holds the two together.
#pragma once
#include <cstdint>

namespace tokamak {

/// By what the device draws a token from a list (SampleToken of graph/sampling_ops.h).
struct SamplingRule {
  float inverse_temperature = 1;  // what differences of logits are multiplied by; finite
  uint32_t top_k = 0;             // 0: off
  float top_p = 1, min_p = 0;     // 1 and 0: off
  float repetition_penalty = 1;   // 1: off
  /// The state of splitmix64 (base/splitmix.h), from which the draw takes its number.
  uint32_t random_low = 0, random_high = 0;

  uint64_t random() const { return uint64_t{random_high} << 32 | random_low; }
  void set_random(uint64_t state) {
    random_low = uint32_t(state);
    random_high = uint32_t(state >> 32);
  }
};

struct Frame {
  uint32_t tokens = 0;    // tokens in this step
  uint32_t position = 0;  // of the first of them, = tokens already in the cache
  uint32_t length = 0;    // of the sequence with all tokens the host has for it by now
  uint32_t chosen = 0;    // tokens the device chose since the host last wrote a frame
  SamplingRule rule;      // of steps that end in a list of candidates
  uint32_t reserved = 0;
};
static_assert(sizeof(Frame) == 48);

/// Token ids start here: the smallest alignment every WebGPU device takes for a bound range.
inline constexpr uint32_t kFrameTokensOffset = 256;

/// What a kernel binds of the buffer: one that makes the next frame has the first token id with it.
constexpr uint32_t frame_bytes(bool writes_frame) {
  return writes_frame ? kFrameTokensOffset + 16 : uint32_t(sizeof(Frame));
}

}  // namespace tokamak
