// Totals of GROUP_ROWS + 1 sums over the workgroup: the lanes leave theirs and go on, they are added
// when all is done.
var<workgroup> lane_sums: array<f32, (GROUP_ROWS + 1u) * THREADS>;

fn fold(row: u32, sum: f32, lane: u32) {
  lane_sums[row * THREADS + lane] = sum;
}

fn total(row: u32) -> f32 {
  var all = 0.0;
  for (var i = 0u; i < THREADS; i++) {
    all += lane_sums[row * THREADS + i];
  }
  return all;
}
