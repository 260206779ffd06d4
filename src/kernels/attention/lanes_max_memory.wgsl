// The largest value of lanes that share a key, through workgroup memory.
fn max_of_lanes(value: f32, lane: u32) -> f32 {
  workgroupBarrier();
  lane_values[lane] = value;
  workgroupBarrier();
  var largest = value;
  for (var i = 0u; i < LANES; i++) {
    largest = max(largest, lane_values[lane / LANES * LANES + i]);
  }
  return largest;
}
