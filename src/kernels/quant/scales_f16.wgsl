// Numbers 2 i and 2 i + 1 of the scales.
fn scale_pair(i: u32) -> vec2<f32> {
  return unpack2x16float(weight_words[SCALES + i]);
}

