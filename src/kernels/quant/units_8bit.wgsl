// A unit is 16 weights of 8 bits, one load of 16 bytes; the rest as in units_4bit.wgsl, with
// v = 1 + q / 256.
const UNIT = 16u;
@group(0) @binding(WIDE_BINDING) var<storage, read> wide_words: array<vec4<u32>>;
var<private> own_totals: array<f32, ROUNDS>;

fn note_units() {
  for (var round = 0u; round < ROUNDS; round++) {
    var sum = vec4<f32>();
    for (var j = 0u; j < 4u; j++) {
      sum += own[4u * round + j];
    }
    own_totals[round] = dot(sum, vec4(1.0));
  }
}

fn four(bits: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(
      ((vec4(bits << 15u, bits << 7u, bits >> 1u, bits >> 9u)) & vec4(0x7f8000u)) |
      vec4(0x3f800000u));
}

struct Unit {
  words: vec4<u32>,
  scale: vec2<f32>,
}

fn load_unit(i: u32) -> Unit {
  return Unit(wide_words[i], affine(2u * i));
}

fn unit_product(unit: Unit, round: u32) -> f32 {
  let words = unit.words ^ vec4(FLIPPED_BITS);
  var sum = 0.0;
  for (var j = 0u; j < 4u; j++) {
    sum += dot(four(words[j]), own[4u * round + j]);
  }
  return 256.0 * unit.scale.x * (sum - own_totals[round]) + unit.scale.y * own_totals[round];
}
