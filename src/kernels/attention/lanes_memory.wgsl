// What lanes that share a key do together, through workgroup memory: SPAN is LANES.
var<workgroup> lane_values: array<f32, THREADS>;

fn sum_of_lanes(value: f32, lane: u32) -> f32 {
  workgroupBarrier();
  lane_values[lane] = value;
  workgroupBarrier();
  var sum = 0.0;
  for (var i = 0u; i < LANES; i++) {
    sum += lane_values[lane / LANES * LANES + i];
  }
  return sum;
}

fn merge_groups(h: u32) {}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  run(group, lane);
}
