// Words of eight quanta, for units_wide.wgsl.
const QUANTA = 16.0;

fn fractions(bits: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4(bits) << vec4(19u, 15u, 11u, 7u)) & vec4(0x780000u)) |
                            vec4(0x3f800000u));
}

fn word_product(bits: u32, at: u32) -> f32 {
  return dot(fractions(bits), own[at]) + dot(fractions(bits >> 16u), own[at + 1u]);
}
