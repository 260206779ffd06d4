// Elements in whole numbers of steps, as bytes.

// The step of a head whose largest magnitude is that.
fn step_of(largest: f32) -> f32 {
  return select(min(largest, 3.4e38) / 127.0, 0.0, largest < 0x1p-100);
}

fn pack_bytes(four: vec4<f32>, step: f32) -> u32 {
  let inverse = select(1.0 / step, 0.0, step == 0.0);
  let steps = clamp(round(four * inverse), vec4(-127.0), vec4(127.0));
  let bytes = vec4<u32>(vec4<i32>(steps) + 128) << vec4(0u, 8u, 16u, 24u);
  return bytes.x | bytes.y | bytes.z | bytes.w;
}
