// x' as whole numbers of 16 bits, each unit with a step of its own, for dot products of bytes:
// eight elements are a vector, the upper bytes in its first half and the lower ones in its second.
// STAGED_EIGHTS and STAGED_UNITS of them lie in workgroup memory.
const MAX_MAGNITUDE = 32512.0;  // 127 * 256: both bytes have a sign
var<workgroup> staged: array<vec4<u32>, STAGED_EIGHTS>;
var<workgroup> unit_steps: array<vec2<f32>, STAGED_UNITS>;
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

// Keeps two vectors at `at`, and with the first of a unit its step at `unit`, where `keeps` is true.
fn stage_eight(made: array<vec4<f32>, 2>, at: u32, unit: u32, is_first: bool, keeps: bool) {
  let most = max(abs(made[0]), abs(made[1]));
  let largest = largest_of_unit(max(max(most.x, most.y), max(most.z, most.w)));
  let factor = select(0.0, MAX_MAGNITUDE / largest, largest > 0.0);
  let a = vec4<i32>(round(made[0] * factor));
  let b = vec4<i32>(round(made[1] * factor));
  let both = a + b;
  let sum = sum_of_unit(both.x + both.y + both.z + both.w);
  let fours = fours_of(a, b);
  if (keeps) {
    staged[at] =
        vec4(pack4xI8((fours[0] + 128) >> vec4(8u)), pack4xI8((fours[1] + 128) >> vec4(8u)),
             pack4xI8(fours[0]), pack4xI8(fours[1]));
    if (is_first) {
      let step = largest / MAX_MAGNITUDE;
      unit_steps[unit] = vec2(step, f32(sum) * step);
    }
  }
}
