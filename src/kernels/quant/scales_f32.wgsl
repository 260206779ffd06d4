// Numbers 2 i and 2 i + 1 of the scales.
fn scale_pair(i: u32) -> vec2<f32> {
  return bitcast<vec2<f32>>(vec2(weight_words[SCALES + 2u * i], weight_words[SCALES + 2u * i + 1u]));
}

