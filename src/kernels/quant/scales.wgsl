// Numbers 2 i and 2 i + 1 of the scales, which are f32 where SCALES_F32 is 1, bf16 where SCALES_BF16
// is, and else f16.
fn scale_pair(i: u32) -> vec2<f32> {
  if (SCALES_F32 == 1u) {
    return bitcast<vec2<f32>>(
        vec2(weight_words[SCALES + 2u * i], weight_words[SCALES + 2u * i + 1u]));
  }
  let word = weight_words[SCALES + i];
  if (SCALES_BF16 == 1u) {
    return bitcast<vec2<f32>>(vec2(word << 16u, word & 0xffff0000u));
  }
  return unpack2x16float(word);
}

fn group_scale(group: u32) -> f32 {
  return scale_pair(group / 2u)[group % 2u];
}
