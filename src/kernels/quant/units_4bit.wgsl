// A unit is 32 weights of 4 bits, one load of 16 bytes. A quantum q goes into the upper fraction
// bits of 1.0, which costs no conversion and makes v = 1 + q / 16; with w = s q + o
//   sum w x = 16 s (sum v x - sum x) + o sum x
// The sums of x are known beforehand, and little is lost: v is at most eight times |q / 16 - 1/2|
// on average.
const UNIT = 32u;
@group(0) @binding(WIDE_BINDING) var<storage, read> wide_words: array<vec4<u32>>;
var<private> own_totals: array<f32, ROUNDS>;

fn note_units() {
  for (var round = 0u; round < ROUNDS; round++) {
    var sum = vec4<f32>();
    for (var j = 0u; j < 8u; j++) {
      sum += own[8u * round + j];
    }
    own_totals[round] = dot(sum, vec4(1.0));
  }
}

fn four(bits: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4(bits) << vec4(19u, 15u, 11u, 7u)) & vec4(0x780000u)) |
                            vec4(0x3f800000u));
}

struct Unit {
  words: vec4<u32>,
  scale: vec2<f32>,
}

fn load_unit(i: u32) -> Unit {
  return Unit(wide_words[i], affine(4u * i));
}

fn unit_product(unit: Unit, round: u32) -> f32 {
  var sum = 0.0;
  for (var j = 0u; j < 4u; j++) {
    sum += dot(four(unit.words[j]), own[8u * round + 2u * j]);
    sum += dot(four(unit.words[j] >> 16u), own[8u * round + 2u * j + 1u]);
  }
  return 16.0 * unit.scale.x * (sum - own_totals[round]) + unit.scale.y * own_totals[round];
}
