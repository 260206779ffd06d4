// How many lanes a subgroup has is read, never assumed. Subgroups are taken to hold neighbouring
// lanes, which the kernel self-test of a device checks.
var<private> subgroup_lane: u32;
var<private> subgroup_lanes: u32;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32,
        @builtin(subgroup_invocation_id) own_lane: u32, @builtin(subgroup_size) lanes: u32) {
  subgroup_lane = own_lane;
  subgroup_lanes = lanes;
  run(group, lane);
}
