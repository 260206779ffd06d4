// As fold.wgsl, for teams of which a subgroup holds several.
var<workgroup> team_sums: array<f32, GROUP_ROWS>;

fn fold(row: u32, sum: f32, lane: u32) {
  var team_sum = sum;
  for (var apart = 1u; apart < LANES; apart *= 2u) {
    team_sum += subgroupShuffleXor(team_sum, apart);
  }
  if (lane % LANES == 0u) {
    team_sums[row] = team_sum;
  }
}

fn total(row: u32) -> f32 {
  return team_sums[row];
}
