// As fold.wgsl: a subgroup leaves its share and goes on, the shares are added when all is done.
// Subgroups have at least four lanes.
const SHARES = (THREADS + 3u) / 4u;
var<workgroup> shares: array<f32, (GROUP_ROWS + 1u) * SHARES>;

fn fold(row: u32, sum: f32, lane: u32) {
  let share = subgroupAdd(sum);
  if (subgroup_lane == 0u) {
    shares[row * SHARES + lane / subgroup_lanes] = share;
  }
}

fn total(row: u32) -> f32 {
  var all = 0.0;
  for (var i = 0u; i < (THREADS + subgroup_lanes - 1u) / subgroup_lanes; i++) {
    all += shares[row * SHARES + i];
  }
  return all;
}
