// The weights of decode8() times a power of two, in f16: w = s (q - 8), whose factors are numbers of f16, so
// that the product is rounded once. As the lowest bits of 1024 two q are a pair without a conversion.
fn whole_pair(bits: u32) -> vec2<f16> {
  return bitcast<vec2<f16>>((bits & 0x000f000fu) | 0x64006400u) - bitcast<vec2<f16>>(0x64086408u);
}

fn halves8(eight: Stored8, factor: f32) -> array<vec4<f16>, 2> {
  let s = vec2<f16>(vec2(factor * eight.pair.x));
  let a = s * whole_pair(eight.quanta);
  let b = s * whole_pair(eight.quanta >> 4u);
  let c = s * whole_pair(eight.quanta >> 8u);
  let d = s * whole_pair(eight.quanta >> 12u);
  return array(vec4(a.x, b.x, c.x, d.x), vec4(a.y, b.y, c.y, d.y));
}
