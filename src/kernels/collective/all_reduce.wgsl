// The sum of what every rank has, in the order of the ranks: all have the same bits. HELD values of
// a lane are on their way at a time, since each takes microseconds.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Part>;

fn run(group: vec3<u32>, lane: u32) {
  let turn = begin(group.x, lane);
  let count = select(step_rows(), 1u, ONE_ROW == 1u) * COLUMNS;
  for (var first = group.x * THREADS * HELD + lane; first < count; first += GROUPS * THREADS * HELD) {
    var own: array<Part, HELD>;
    var sums: array<Part, HELD>;
    for (var i = 0u; i < HELD; i++) {  // unroll
      let at = min(first + i * THREADS, count - 1u);
      own[i] = give(turn, group.x, i * THREADS + lane, at);
      sums[i] = begin_sum(at);
    }
    for (var rank = 0u; rank < RANKS; rank++) {
      for (var i = 0u; i < HELD; i++) {  // unroll
        let at = min(first + i * THREADS, count - 1u);
        sums[i] += part_from(rank, turn, group.x, i * THREADS + lane, at, own[i]);
      }
    }
    for (var i = 0u; i < HELD; i++) {  // unroll
      if (first + i * THREADS < count) {
        y[first + i * THREADS] = sums[i];
      }
    }
  }
  end(turn, group.x, lane);
}
