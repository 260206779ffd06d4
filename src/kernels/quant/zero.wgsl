// s and o of eight weights, w = s (q - z - 1). A row's z begin at a byte: UNUSED_ZEROS is 1 where
// its last one is half empty.
fn affine(i: u32) -> vec2<f32> {
  let group = i / (GROUP / 8u);
  let s = scale_pair(group / 2u)[group % 2u];
  let at = group + group / ROW_GROUPS * UNUSED_ZEROS;
  let z = f32((weight_words[ZEROS + at / 8u] >> (4u * (at % 8u))) & 15u) + 1.0;
  return vec2(s, -z * s);
}
