// As fold.wgsl, for teams of which a subgroup holds several.
var<workgroup> team_sums: array<f32, GROUP_ROWS>;

fn fold(row: u32, sum: f32, lane: u32) {
  var team_sum = sum;
  for (var i = 0u; i < LANE_STEPS; i++) {  // written out
    team_sum += subgroupShuffleXor(team_sum, 1u << i);
  }
  if (lane % LANES == 0u) {
    team_sums[row] = team_sum;
  }
}

fn total(row: u32) -> f32 {
  return team_sums[row];
}
