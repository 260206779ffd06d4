// The frame and the first of its token ids, for the kernel that makes it that of the next step.
struct NextFrame {
  frame: Frame,
  reserved: array<vec4<u32>, 13>,
  token: u32,
}
@group(0) @binding(0) var<storage, read_write> next_frame: NextFrame;

// The next step has this token. For one lane.
fn to_next_step(token: u32) {
  next_frame.token = token;
  next_frame.frame.position += 1u;
  next_frame.frame.length += 1u;
  next_frame.frame.chosen += 1u;
}
