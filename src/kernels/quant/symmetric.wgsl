// s and o of eight weights, w = s (q - ZERO_POINT).
fn affine(i: u32) -> vec2<f32> {
  let s = group_scale(i / (GROUP / 8u));
  return vec2(s, -ZERO_POINT * s);
}
