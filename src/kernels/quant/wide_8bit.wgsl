// Words of four quanta, for units_wide.wgsl.
fn word_product(word: u32, at: u32) -> f32 {
  return dot(bytes(word ^ FLIPPED_BITS), own[at]);
}
