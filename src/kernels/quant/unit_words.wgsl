// A unit is one load of 16 bytes of weights w = s q + o.
@group(0) @binding(WIDE_BINDING) var<storage, read> wide_words: array<vec4<u32>>;

struct Unit {
  words: vec4<u32>,
  scale: vec2<f32>,
}

fn load_unit(i: u32) -> Unit {
  return Unit(wide_words[i], affine(UNIT / 8u * i));
}
