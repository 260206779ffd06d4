// Words of four quanta, for units_wide.wgsl.
const QUANTA = 256.0;

fn fractions(bits: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(
      ((vec4(bits << 15u, bits << 7u, bits >> 1u, bits >> 9u)) & vec4(0x7f8000u)) |
      vec4(0x3f800000u));
}

fn word_product(bits: u32, at: u32) -> f32 {
  return dot(fractions(bits ^ FLIPPED_BITS), own[at]);
}
