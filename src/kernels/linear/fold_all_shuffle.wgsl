// As fold_all_subgroup.wgsl, by shuffles among 32 neighbouring lanes, which a subgroup holds.
const ALL_SHARES = THREADS / 32u;
var<workgroup> all_shares: array<f32, 2u * ALL_SHARES>;

fn sum_of_32(value: f32) -> f32 {
  var sum = value;
  for (var i = 0u; i < 5u; i++) {  // written out
    sum += subgroupShuffleXor(sum, 1u << i);
  }
  return sum;
}

fn fold_all(which: u32, sum: f32, lane: u32) {
  let share = sum_of_32(sum);
  if (lane % 32u == 0u) {
    all_shares[which * ALL_SHARES + lane / 32u] = share;
  }
}

fn total_of_all(which: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < ALL_SHARES; i++) {
    sum += all_shares[which * ALL_SHARES + i];
  }
  return sum;
}
