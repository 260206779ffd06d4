// s and o of eight weights, w = s v(q).
fn affine(i: u32) -> vec2<f32> {
  return vec2(group_scale(i / (GROUP / 8u)), 0.0);
}
