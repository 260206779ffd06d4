// The largest value of lanes that share a key, by subgroups.
fn max_of_lanes(value: f32, lane: u32) -> f32 {
  var largest = value;
  for (var i = 0u; i < LANE_STEPS; i++) {  // unroll
    largest = max(largest, subgroupShuffleXor(largest, 1u << i));
  }
  return largest;
}
