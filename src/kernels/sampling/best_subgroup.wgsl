// The same as best_memory.wgsl, by subgroups: BEST_LANES are one or several. `own` is no NaN.
const BEST_PARTIALS = THREADS / 4u;
var<workgroup> bests: array<vec2<f32>, BEST_PARTIALS>;

fn best_of_lanes(own: vec2<f32>, lane: u32) -> vec2<f32> {
  let most = subgroupMax(own.x);
  let column = subgroupMin(select(-LOWEST, own.y, own.x == most));
  if (subgroup_lane == 0u) {
    bests[lane / subgroup_lanes] = vec2(most, column);
  }
  workgroupBarrier();
  let first = lane / BEST_LANES * BEST_LANES / subgroup_lanes;
  var best = bests[first];
  if (subgroup_lanes == 32u) {  // as in reduction/all_subgroup.wgsl
    for (var i = 1u; i < BEST_LANES / 32u; i++) {
      best = better(best, bests[first + i]);
    }
    return best;
  }
  for (var i = 1u; i < BEST_LANES / subgroup_lanes; i++) {
    best = better(best, bests[first + i]);
  }
  return best;
}
