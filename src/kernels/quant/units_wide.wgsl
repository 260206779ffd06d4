// A unit is one load of 16 bytes of weights w = s q + o of BITS bits. Each word goes through
// fractions(), which puts quanta into the upper fraction bits of 1.0: that costs no conversion and
// makes v = 1 + q / 2^BITS, with which
//   sum w x = 2^BITS s (sum v x - sum x) + o sum x
// The sums of x are known beforehand, and little is lost: for 4 bits, v is at most eight times
// |q / 16 - 1/2| on average.
@group(0) @binding(WIDE_BINDING) var<storage, read> wide_words: array<vec4<u32>>;
var<private> own_totals: array<f32, ROUNDS>;

fn note_units() {
  for (var round = 0u; round < ROUNDS; round++) {  // written out
    var sum = vec4<f32>();
    for (var j = 0u; j < VECTORS; j++) {  // written out
      sum += own[VECTORS * round + j];
    }
    own_totals[round] = dot(sum, vec4(1.0));
  }
}

struct Unit {
  words: vec4<u32>,
  scale: vec2<f32>,
}

fn load_unit(i: u32) -> Unit {
  return Unit(wide_words[i], affine(UNIT / 8u * i));
}

fn unit_product(unit: Unit, round: u32) -> f32 {
  var sum = 0.0;
  for (var j = 0u; j < 4u; j++) {  // written out
    sum += word_product(unit.words[j], VECTORS * round + VECTORS / 4u * j);
  }
  return QUANTA * unit.scale.x * (sum - own_totals[round]) + unit.scale.y * own_totals[round];
}
