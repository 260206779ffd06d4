// The frame and the first of its token ids, for the kernel that makes it that of the next step.
// Mirrors kernels/frame.h.
struct NextFrame {
  tokens: u32,
  position: u32,
  length: u32,
  chosen: u32,
  inverse_temperature: f32,
  top_k: u32,
  top_p: f32,
  min_p: f32,
  random_low: u32,
  random_high: u32,
  reserved_1: vec2<u32>,
  reserved_2: array<vec4<u32>, 13>,
  token: u32,
}
@group(0) @binding(0) var<storage, read_write> next_frame: NextFrame;
