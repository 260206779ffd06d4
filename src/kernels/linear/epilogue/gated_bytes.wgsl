// The gated columns of finish_down.wgsl as whole numbers of 16 bits, as in staging/bytes.wgsl. A lane
// has a word of four of them, which are BYTE_STEP apart; two neighbours make a vector.
var<workgroup> gated_eights: array<vec4<u32>, SLICE / 8u>;
var<workgroup> gated_steps: array<vec2<f32>, SLICE_UNITS>;
var<private> own_2: array<vec4<u32>, EIGHTS_2>;
var<private> own_step_2: vec2<f32>;
const WORDS = GROUP_COLUMNS / 4u;
const UNIT_WORDS = UNIT_2 / 4u;
const_assert GROUP_COLUMNS % UNIT_2 == 0u && WORDS <= THREADS;

fn keep_gated(first: u32, scale: f32, repeat: u32, lane: u32) {
  let word = min(lane, WORDS - 1u);
  let column = word / 2u * 8u + word % 2u * OTHER_WORD;
  var values: vec4<f32>;
  for (var i = 0u; i < 4u; i++) {  // unroll
    values[i] = gated_at(first, scale, column + i * BYTE_STEP);
  }
  let most = abs(values);
  var largest = max(max(most.x, most.y), max(most.z, most.w));
  for (var i = 0u; i < WORD_STEPS; i++) {  // unroll
    largest = max(largest, subgroupShuffleXor(largest, 1u << i));
  }
  let whole = vec4<i32>(round(values * select(0.0, MAX_MAGNITUDE / largest, largest > 0.0)));
  var sum = whole.x + whole.y + whole.z + whole.w;
  for (var i = 0u; i < WORD_STEPS; i++) {  // unroll
    sum += subgroupShuffleXor(sum, 1u << i);
  }
  let high = pack4xI8((whole + 128) >> vec4(8u));
  let low = pack4xI8(whole);
  let eight = vec4(high, subgroupShuffleXor(high, 1u), low, subgroupShuffleXor(low, 1u));
  if (lane < WORDS && lane % 2u == 0u) {
    gated_eights[(repeat * WORDS + lane) / 2u] = eight;
  }
  if (lane < WORDS && lane % UNIT_WORDS == 0u) {
    let step = largest / MAX_MAGNITUDE;
    gated_steps[(repeat * WORDS + lane) / UNIT_WORDS] = vec2(step, f32(sum) * step);
  }
}

fn take_gated(unit: u32) {
  for (var e = 0u; e < EIGHTS_2; e++) {  // unroll
    own_2[e] = gated_eights[unit * EIGHTS_2 + e];
  }
  own_step_2 = gated_steps[unit];
}
