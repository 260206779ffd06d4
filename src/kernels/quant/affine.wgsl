// w = s q + o
struct Stored8 {
  quanta: Quanta,
  pair: vec2<f32>,
}

fn load8(i: u32) -> Stored8 {
  return Stored8(load_quanta(i), affine(i));
}

fn decode8(eight: Stored8) -> array<vec4<f32>, 2> {
  let q = quants8(eight.quanta);
  return array(eight.pair.x * q[0] + eight.pair.y, eight.pair.x * q[1] + eight.pair.y);
}
