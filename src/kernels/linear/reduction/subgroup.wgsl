// The same as reduction/memory.wgsl, for lane groups of whole subgroups: a subgroup leaves its share and goes on, the
// shares are added when all is done. Subgroups have at least four lanes and at most a lane group's.
const LANE_GROUP_PARTIALS = LANES / 4u;
var<workgroup> lane_group_partials: array<f32, GROUP_ROWS * LANE_GROUP_PARTIALS>;

fn reduction(row: u32, sum: f32, lane: u32) {
  let share = subgroupAdd(sum);
  if (subgroup_lane == 0u) {
    lane_group_partials[row * LANE_GROUP_PARTIALS + lane % LANES / subgroup_lanes] = share;
  }
}

fn total(row: u32) -> f32 {
  var sum = 0.0;
  if (subgroup_lanes == 32u) {  // as in reduction/all_subgroup.wgsl
    for (var i = 0u; i < LANES / 32u; i++) {
      sum += lane_group_partials[row * LANE_GROUP_PARTIALS + i];
    }
    return sum;
  }
  for (var i = 0u; i < LANES / subgroup_lanes; i++) {
    sum += lane_group_partials[row * LANE_GROUP_PARTIALS + i];
  }
  return sum;
}
