// Totals of sums over the lanes of a team, or over all: the lanes leave theirs and go on, they are
// added when all is done.
const SHARES = 16u;  // of a sum over all lanes
var<workgroup> lane_sums: array<f32, GROUP_ROWS * LANES>;
var<workgroup> all_sums: array<f32, THREADS>;
var<workgroup> shares: array<f32, SHARES>;

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

// Both totals have one place. A few lanes add up the shares, so that not every lane reads from all.
fn fold_all(which: u32, sum: f32, lane: u32) {
  all_sums[lane] = sum;
  workgroupBarrier();
  if (lane < SHARES) {
    var share = 0.0;
    for (var i = lane; i < THREADS; i += SHARES) {
      share += all_sums[i];
    }
    shares[lane] = share;
  }
}

fn total_of_all(which: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < SHARES; i++) {
    sum += shares[i];
  }
  return sum;
}
