// As fold.wgsl, for teams of whole subgroups: a subgroup leaves its share and goes on, the shares are
// added when all is done. Subgroups have at least four lanes and at most a team's.
const TEAM_SHARES = LANES / 4u;
var<workgroup> team_shares: array<f32, GROUP_ROWS * TEAM_SHARES>;

fn fold(row: u32, sum: f32, lane: u32) {
  let share = subgroupAdd(sum);
  if (subgroup_lane == 0u) {
    team_shares[row * TEAM_SHARES + lane % LANES / subgroup_lanes] = share;
  }
}

fn total(row: u32) -> f32 {
  var sum = 0.0;
  if (subgroup_lanes == 32u) {  // as in fold_all_subgroup.wgsl
    for (var i = 0u; i < LANES / 32u; i++) {
      sum += team_shares[row * TEAM_SHARES + i];
    }
    return sum;
  }
  for (var i = 0u; i < LANES / subgroup_lanes; i++) {
    sum += team_shares[row * TEAM_SHARES + i];
  }
  return sum;
}
