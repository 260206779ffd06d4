// Numbers 2 i and 2 i + 1 of the scales.
fn scale_pair(i: u32) -> vec2<f32> {
  let word = weight_words[SCALES + i];
  return bitcast<vec2<f32>>(vec2(word << 16u, word & 0xffff0000u));
}

