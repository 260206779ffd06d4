// The gated columns of finish_down.wgsl as whole numbers of 16 bits, as in staged_bytes.wgsl. A lane
// has one of them; eight neighbours make a vector, of words of four that are BYTE_STEP apart.
var<workgroup> gated_eights: array<vec4<u32>, SLICE / 8u>;
var<workgroup> gated_steps: array<vec2<f32>, SLICE_UNITS>;
var<private> own_2: array<vec4<u32>, EIGHTS_2>;
var<private> own_step_2: vec2<f32>;
const_assert GROUP_ROWS / 2u % UNIT_2 == 0u;

// Of four lanes, each with a byte.
fn word_of(byte: u32, lane: u32) -> u32 {
  var word = (byte & 255u) << (8u * (lane / BYTE_STEP % 4u));
  for (var i = 0u; i < 2u; i++) {  // written out
    word |= subgroupShuffleXor(word, BYTE_STEP << i);
  }
  return word;
}

fn keep_gated(column: u32, value: f32, counts: bool, lane: u32) {
  var largest = abs(value);
  for (var i = 0u; i < UNIT_STEPS; i++) {  // written out
    largest = max(largest, subgroupShuffleXor(largest, 1u << i));
  }
  let whole = i32(round(value * select(0.0, LARGEST / largest, largest > 0.0)));
  var sum = whole;
  for (var i = 0u; i < UNIT_STEPS; i++) {  // written out
    sum += subgroupShuffleXor(sum, 1u << i);
  }
  let high = word_of(u32((whole + 128) >> 8u), lane);
  let low = word_of(u32(whole), lane);
  let eight = vec4(high, subgroupShuffleXor(high, OTHER_WORD), low, subgroupShuffleXor(low, OTHER_WORD));
  if (counts && column % 8u == 0u) {
    gated_eights[column / 8u] = eight;
  }
  if (counts && column % UNIT_2 == 0u) {
    let step = largest / LARGEST;
    gated_steps[column / UNIT_2] = vec2(step, f32(sum) * step);
  }
}

fn take_gated(unit: u32) {
  for (var e = 0u; e < EIGHTS_2; e++) {  // written out
    own_2[e] = gated_eights[unit * EIGHTS_2 + e];
  }
  own_step_2 = gated_steps[unit];
}
