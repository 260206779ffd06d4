// Totals of sums over all lanes, of which a subgroup leaves its share. There are two totals, so that
// the second one's shares need not wait until all have read the first's. Subgroups of 32 lanes, the
// most common ones, have loops of their own: compilers write out those whose length they know, which
// makes them several times as fast.
const ALL_PARTIALS = THREADS / 4u;
var<workgroup> all_partials: array<f32, 2u * ALL_PARTIALS>;

fn reduce_all(which: u32, sum: f32, lane: u32) {
  let share = subgroupAdd(sum);
  if (subgroup_lane == 0u) {
    all_partials[which * ALL_PARTIALS + lane / subgroup_lanes] = share;
  }
}

fn total_of_all(which: u32) -> f32 {
  var sum = 0.0;
  if (subgroup_lanes == 32u) {
    for (var i = 0u; i < THREADS / 32u; i++) {
      sum += all_partials[which * ALL_PARTIALS + i];
    }
    return sum;
  }
  for (var i = 0u; i < THREADS / subgroup_lanes; i++) {
    sum += all_partials[which * ALL_PARTIALS + i];
  }
  return sum;
}
