// The sum of what every rank has, as all_reduce.wgsl, and its norm: a row for each workgroup at a
// time, of which a lane has HELD parts.
@group(0) @binding(INPUT_2) var<storage, read> w: array<Part>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Part>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> z: array<Part>;

fn run(group: vec3<u32>, lane: u32) {
  let turn = begin(group.x, lane);
  let rows = select(step_rows(), 1u, ONE_ROW == 1u);
  for (var row = group.x; row < rows; row += GROUPS) {
    let first = row * COLUMNS;
    var own: array<Part, HELD>;
    var sums: array<Part, HELD>;
    for (var i = 0u; i < HELD; i++) {  // unroll
      let at = first + min(i * THREADS + lane, COLUMNS - 1u);
      own[i] = give(turn, group.x, i * THREADS + lane, at);
      sums[i] = begin_sum(at);
    }
    for (var rank = 0u; rank < RANKS; rank++) {
      for (var i = 0u; i < HELD; i++) {  // unroll
        let at = first + min(i * THREADS + lane, COLUMNS - 1u);
        sums[i] += part_from(rank, turn, group.x, i * THREADS + lane, at, own[i]);
      }
    }
    var squares = 0.0;
    for (var i = 0u; i < HELD; i++) {  // unroll
      if (i * THREADS + lane < COLUMNS) {
        y[first + i * THREADS + lane] = sums[i];
        squares += square_of(sums[i]);
      }
    }
    let scale = inverseSqrt(reduce_sum(squares, lane) / f32(COLUMNS * UNIT) + EPS);
    for (var i = 0u; i < HELD; i++) {  // unroll
      if (i * THREADS + lane < COLUMNS) {
        z[first + i * THREADS + lane] = sums[i] * scale * w[i * THREADS + lane];
      }
    }
  }
  end(turn, group.x, lane);
}
