// The frame and the first of its token ids, for the kernel that makes it that of the next step.
// Mirrors kernels/frame.h.
struct NextFrame {
  tokens: u32,
  position: u32,
  length: u32,
  chosen: u32,
  reserved: array<vec4<u32>, 15>,
  token: u32,
}
@group(0) @binding(0) var<storage, read_write> next_frame: NextFrame;
