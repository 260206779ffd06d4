// The weights of decode8() times a power of two, in f16: the numbers of floats4.wgsl stay in it.
fn halves_of(sizes: u32, signs: u32, s: vec2<f16>) -> vec2<f16> {
  return s * (bitcast<vec2<f16>>(0x74007400u) *
              bitcast<vec2<f16>>((sizes & 0x0e000e00u) | (signs & 0x80008000u)));
}

fn halves8(eight: Stored8, factor: f32) -> array<vec4<f16>, 2> {
  let s = vec2<f16>(vec2(factor * eight.pair.x));
  let word = eight.quanta;
  let a = halves_of(word << 9u, word << 12u, s);
  let b = halves_of(word << 5u, word << 8u, s);
  let c = halves_of(word << 1u, word << 4u, s);
  let d = halves_of(word >> 3u, word, s);
  return array(vec4(a.x, b.x, c.x, d.x), vec4(a.y, b.y, c.y, d.y));
}
