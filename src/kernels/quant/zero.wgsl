// s and o of eight weights, w = s (q - z - ZERO_SHIFT).
fn affine(i: u32) -> vec2<f32> {
  let group = i / (GROUP / 8u);
  let s = group_scale(group);
  let z = f32((weight_words[ZEROS + group / 4u] >> (8u * (group % 4u))) & 255u) + ZERO_SHIFT;
  return vec2(s, -z * s);
}
