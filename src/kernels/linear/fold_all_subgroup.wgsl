// Totals of sums over all lanes, of which a subgroup leaves its share.
const ALL_SHARES = THREADS / 4u;
var<workgroup> all_shares: array<f32, ALL_SHARES>;

fn fold_all(sum: f32, lane: u32) {
  let share = subgroupAdd(sum);
  if (subgroup_lane == 0u) {
    all_shares[lane / subgroup_lanes] = share;
  }
}

fn total_of_all() -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < THREADS / subgroup_lanes; i++) {
    sum += all_shares[i];
  }
  return sum;
}
