// As fold.wgsl: a subgroup leaves its share and goes on, the shares are added when all is done.
// Subgroups have at least four lanes; how many is read, never assumed.
const SHARES = (THREADS + 3u) / 4u;
var<workgroup> shares: array<f32, (GROUP_ROWS + 1u) * SHARES>;
var<private> subgroup_lane: u32;
var<private> subgroup_lanes: u32;

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

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32,
        @builtin(subgroup_invocation_id) own_lane: u32, @builtin(subgroup_size) lanes: u32) {
  subgroup_lane = own_lane;
  subgroup_lanes = lanes;
  run(group, lane);
}
