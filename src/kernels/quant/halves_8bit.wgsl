// The weights of decode8() times a power of two, in f16: w = s (q - 128), whose factors are numbers of f16,
// so that the product is rounded once. As the lowest bits of 1024 two q are a pair without a conversion.
fn whole_pair(low: u32, high: u32) -> vec2<f16> {
  return bitcast<vec2<f16>>((low & 255u) | (high & 0x00ff0000u) | 0x64006400u) -
         bitcast<vec2<f16>>(0x64806480u);
}

fn four_halves(word: u32, s: vec2<f16>) -> vec4<f16> {
  let q = word ^ FLIPPED_BITS;
  return vec4(s * whole_pair(q, q << 8u), s * whole_pair(q >> 16u, q >> 8u));
}

fn halves8(eight: Stored8, factor: f32) -> array<vec4<f16>, 2> {
  let s = vec2<f16>(vec2(factor * eight.pair.x));
  return array(four_halves(eight.quanta.x, s), four_halves(eight.quanta.y, s));
}
