// x' as whole numbers of 16 bits, each unit with a step of its own, for dot products of bytes:
// eight elements are a vector, the upper bytes in its first half and the lower ones in its second.
const SHARED = true;
const STRIDE = CHUNK_UNITS + 1u;
const MAX_MAGNITUDE = 32512.0;  // 127 * 256: both bytes have a sign
var<workgroup> staged: array<vec4<u32>, EIGHTS * STRIDE>;
var<workgroup> unit_steps: array<vec2<f32>, CHUNK_UNITS>;
var<private> own: array<vec4<u32>, EIGHTS>;  // of x', for the unit at hand
var<private> own_step: vec2<f32>;            // and its step, and the sum of its elements

// Among the lanes that make a unit: neighbours, so few that a subgroup has them all.
fn largest_of_unit(value: f32) -> f32 {
  var largest = value;
  for (var i = 0u; i < EIGHT_STEPS; i++) {  // unroll
    largest = max(largest, subgroupShuffleXor(largest, 1u << i));
  }
  return largest;
}
fn sum_of_unit(value: i32) -> i32 {
  var sum = value;
  for (var i = 0u; i < EIGHT_STEPS; i++) {  // unroll
    sum += subgroupShuffleXor(sum, 1u << i);
  }
  return sum;
}

// The vector of a chunk that a lane makes i-th: two neighbours.
fn place_of(i: u32, lane: u32) -> u32 {
  return 2u * (i / 2u * THREADS + lane) + i % 2u;
}

// Zeros after the last column, as in staging/floats.wgsl.
fn stage(chunk: u32, lane: u32) {
  for (var i = 0u; i < EACH; i++) {  // unroll
    let made = array(make(2u * i, chunk, lane), make(2u * i + 1u, chunk, lane));
    let most = max(abs(made[0]), abs(made[1]));
    let largest = largest_of_unit(max(max(most.x, most.y), max(most.z, most.w)));
    let factor = select(0.0, MAX_MAGNITUDE / largest, largest > 0.0);
    let a = vec4<i32>(round(made[0] * factor));
    let b = vec4<i32>(round(made[1] * factor));
    let both = a + b;
    let sum = sum_of_unit(both.x + both.y + both.z + both.w);
    let fours = fours_of(a, b);
    let eight = i * THREADS + lane;
    if (eight < CHUNK / 2u) {
      staged[eight % EIGHTS * STRIDE + eight / EIGHTS] =
          vec4(pack4xI8((fours[0] + 128) >> vec4(8u)), pack4xI8((fours[1] + 128) >> vec4(8u)),
               pack4xI8(fours[0]), pack4xI8(fours[1]));
      if (eight % EIGHTS == 0u) {
        let step = largest / MAX_MAGNITUDE;
        unit_steps[eight / EIGHTS] = vec2(step, f32(sum) * step);
      }
    }
  }
}

fn take_unit(round: u32, lane: u32) {
  let unit = round * LANES + lane % LANES;
  for (var e = 0u; e < EIGHTS; e++) {  // unroll
    own[e] = staged[e * STRIDE + unit];
  }
  own_step = unit_steps[unit];
}
