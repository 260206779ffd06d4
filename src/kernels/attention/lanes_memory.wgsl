// The exchanges of lanes that share a key, through workgroup memory: SPAN is LANES.
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
