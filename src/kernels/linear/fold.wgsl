// Totals of sums over the lanes of a team, or over all: the lanes leave theirs and go on, they are
// added when all is done.
var<workgroup> lane_sums: array<f32, GROUP_ROWS * LANES>;
var<workgroup> all_sums: array<f32, THREADS>;

fn fold(row: u32, sum: f32, lane: u32) {
  lane_sums[row * LANES + lane % LANES] = sum;
}

fn total(row: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < LANES; i++) {
    sum += lane_sums[row * LANES + i];
  }
  return sum;
}

// Both totals have one place: the second comes when all have read the first.
fn fold_all(which: u32, sum: f32, lane: u32) {
  workgroupBarrier();
  all_sums[lane] = sum;
}

fn total_of_all(which: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < THREADS; i++) {
    sum += all_sums[i];
  }
  return sum;
}
