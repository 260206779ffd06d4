// The same as all_subgroup.wgsl, by shuffles among 32 neighbouring lanes, which a subgroup holds.
const ALL_PARTIALS = THREADS / 32u;
var<workgroup> all_partials: array<f32, 2u * ALL_PARTIALS>;

fn sum_of_32(value: f32) -> f32 {
  var sum = value;
  for (var i = 0u; i < 5u; i++) {  // unroll
    sum += subgroupShuffleXor(sum, 1u << i);
  }
  return sum;
}

fn reduce_all(which: u32, sum: f32, lane: u32) {
  let share = sum_of_32(sum);
  if (lane % 32u == 0u) {
    all_partials[which * ALL_PARTIALS + lane / 32u] = share;
  }
}

fn total_of_all(which: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < ALL_PARTIALS; i++) {
    sum += all_partials[which * ALL_PARTIALS + i];
  }
  return sum;
}
