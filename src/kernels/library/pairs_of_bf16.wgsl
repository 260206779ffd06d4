// The two bf16 of a word.
fn both(word: u32) -> vec2<f32> {
  return bitcast<vec2<f32>>(vec2(word << 16u, word & 0xffff0000u));
}
