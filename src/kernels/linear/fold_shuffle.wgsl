// As fold_subgroup.wgsl, by shuffles: those of several rows overlap, where compilers add up one row
// after the other by subgroupAdd.
const TEAM_SHARES = LANES / 32u;
var<workgroup> team_shares: array<f32, GROUP_ROWS * TEAM_SHARES>;

fn fold(row: u32, sum: f32, lane: u32) {
  let share = sum_of_32(sum);
  if (lane % 32u == 0u) {
    team_shares[row * TEAM_SHARES + lane % LANES / 32u] = share;
  }
}

fn total(row: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < TEAM_SHARES; i++) {
    sum += team_shares[row * TEAM_SHARES + i];
  }
  return sum;
}
