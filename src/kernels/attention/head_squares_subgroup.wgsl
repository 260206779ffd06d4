// By shuffles among lanes that have neighbouring pairs of a head: as many as a subgroup has of them
// all.
const LANES_PER_SUM = HEAD_PAIRS / PARTIALS;
var<workgroup> square_partials: array<f32, PREPARED_HEADS * PARTIALS>;

fn record_squares(i: u32, squares: f32) {
  var sum = squares;
  for (var step = 0u; step < LANE_SUM_STEPS; step++) {  // unroll
    sum += subgroupShuffleXor(sum, 1u << step);
  }
  if (i % LANES_PER_SUM == 0u && i < PREPARED_HEADS * HEAD_PAIRS) {
    square_partials[i / LANES_PER_SUM] = sum;
  }
}

fn make_factors(lane: u32) {
  workgroupBarrier();
}
