// Totals of sums over the lanes of a lane group, or over all: the lanes leave theirs and go on, they are
// added when all is done.
const PARTIALS = 16u;  // of a sum over all lanes
var<workgroup> lane_sums: array<f32, GROUP_ROWS * LANES>;
var<workgroup> all_sums: array<f32, THREADS>;
var<workgroup> partials: array<f32, PARTIALS>;

fn reduction(row: u32, sum: f32, lane: u32) {
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
fn reduce_all(which: u32, sum: f32, lane: u32) {
  all_sums[lane] = sum;
  workgroupBarrier();
  if (lane < PARTIALS) {
    var share = 0.0;
    for (var i = lane; i < THREADS; i += PARTIALS) {
      share += all_sums[i];
    }
    partials[lane] = share;
  }
}

fn total_of_all(which: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < PARTIALS; i++) {
    sum += partials[i];
  }
  return sum;
}
