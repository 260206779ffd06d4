// The same as reduction/subgroup.wgsl, by shuffles: those of several rows overlap, where compilers add
// up one row after the other by subgroupAdd.
const LANE_GROUP_PARTIALS = LANES / 32u;
var<workgroup> lane_group_partials: array<f32, GROUP_ROWS * LANE_GROUP_PARTIALS>;

fn reduction(row: u32, sum: f32, lane: u32) {
  let share = sum_of_32(sum);
  if (lane % 32u == 0u) {
    lane_group_partials[row * LANE_GROUP_PARTIALS + lane % LANES / 32u] = share;
  }
}

fn total(row: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < LANE_GROUP_PARTIALS; i++) {
    sum += lane_group_partials[row * LANE_GROUP_PARTIALS + i];
  }
  return sum;
}
