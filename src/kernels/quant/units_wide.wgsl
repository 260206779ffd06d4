// A unit is one load of 16 bytes of weights w = s q + o of BITS bits:
//   sum w x = s (sum q x) + o sum x
@group(0) @binding(WIDE_BINDING) var<storage, read> wide_words: array<vec4<u32>>;
var<private> own_total: f32;

fn note_unit() {
  var sum = vec4<f32>();
  for (var v = 0u; v < VECTORS; v++) {  // written out
    sum += own[v];
  }
  own_total = dot(sum, vec4(1.0));
}

struct Unit {
  words: vec4<u32>,
  scale: vec2<f32>,
}

fn load_unit(i: u32) -> Unit {
  return Unit(wide_words[i], affine(UNIT / 8u * i));
}

// Bytes become floats at the rate of other integer operations, bits in other places do not.
fn bytes(word: u32) -> vec4<f32> {
  return vec4<f32>((vec4(word) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu));
}

fn unit_product(unit: Unit) -> f32 {
  var sum = 0.0;
  for (var j = 0u; j < 4u; j++) {  // written out
    sum += word_product(unit.words[j], VECTORS / 4u * j);
  }
  return unit.scale.x * sum + unit.scale.y * own_total;
}
