// The weights of decode8() times a power of two, in f16.
fn halves8(eight: Stored8, factor: f32) -> array<vec4<f16>, 2> {
  let w = decode8(Stored8(eight.quanta, factor * eight.pair));
  return array(vec4<f16>(w[0]), vec4<f16>(w[1]));
}
