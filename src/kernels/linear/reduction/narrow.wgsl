// The same as reduction/memory.wgsl, for lane groups of which a subgroup holds several.
var<workgroup> lane_group_sums: array<f32, GROUP_ROWS>;

fn reduction(row: u32, sum: f32, lane: u32) {
  var lane_group_sum = sum;
  for (var i = 0u; i < LANE_STEPS; i++) {  // unroll
    lane_group_sum += subgroupShuffleXor(lane_group_sum, 1u << i);
  }
  if (lane % LANES == 0u) {
    lane_group_sums[row] = lane_group_sum;
  }
}

fn total(row: u32) -> f32 {
  return lane_group_sums[row];
}
