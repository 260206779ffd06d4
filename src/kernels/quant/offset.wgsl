// s and o of eight weights, as they are stored.
fn affine(i: u32) -> vec2<f32> {
  return scale_pair(i / (GROUP / 8u));
}
