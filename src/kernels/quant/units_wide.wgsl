// Units of unit_words.wgsl in floats:
//   sum w x = s (sum q x) + o sum x
var<private> own_total: f32;

fn record_unit() {
  var sum = vec4<f32>();
  for (var v = 0u; v < VECTORS; v++) {  // unroll
    sum += own[v];
  }
  own_total = dot(sum, vec4(1.0));
}

// Bytes become floats at the rate of other integer operations, bits in other places do not.
fn bytes(word: u32) -> vec4<f32> {
  return vec4<f32>((vec4(word) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu));
}

fn unit_product(unit: Unit) -> f32 {
  var sum = 0.0;
  for (var j = 0u; j < 4u; j++) {  // unroll
    sum += word_product(unit.words[j], VECTORS / 4u * j);
  }
  return unit.scale.x * sum + unit.scale.y * own_total;
}
