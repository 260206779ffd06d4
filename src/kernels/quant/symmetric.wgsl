// s and o of eight weights, w = s (q - ZERO_POINT).
fn affine(i: u32) -> vec2<f32> {
  let group = i / (GROUP / 8u);
  let s = scale_pair(group / 2u)[group % 2u];
  return vec2(s, -ZERO_POINT * s);
}
