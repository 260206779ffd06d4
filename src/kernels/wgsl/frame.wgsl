// Mirrors kernels/frame.h.
struct Frame {
  tokens: u32,
  position: u32,
  length: u32,
  chosen: u32,
  reserved_1: vec4<u32>,
}
@group(0) @binding(0) var<uniform> frame: Frame;

