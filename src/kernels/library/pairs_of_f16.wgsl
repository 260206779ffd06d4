// The two f16 of a word.
fn both(word: u32) -> vec2<f32> {
  return unpack2x16float(word);
}
