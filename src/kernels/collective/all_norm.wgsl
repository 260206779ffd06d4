// The norm of rows of which every rank has some columns: each puts the squares of its own, added up,
// into the memory of all, which add those up in the order of the ranks. All have the same bits.
@group(0) @binding(INPUT_0) var<storage, read> x: array<Part>;
@group(0) @binding(INPUT_1) var<storage, read> w: array<Part>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Part>;

fn run(group: vec3<u32>, lane: u32) {
  let turn = begin(group.x, lane);
  let is_alone = turn.x >= RANKS;  // it counts as all ranks, in the place of the first
  let rows = select(step_rows(), 1u, ONE_ROW == 1u);
  for (var row = group.x; row < rows; row += GROUPS) {
    var squares = 0.0;
    for (var i = lane; i < COLUMNS; i += THREADS) {
      squares += square_of(x[row * COLUMNS + i]);
    }
    let own = vec2<f32>(reduce_sum(squares, lane), other_squares(row, lane));
    if (lane < select(RANKS, 1u, is_alone)) {
      let at = inbox(select(turn.x, 0u, is_alone), turn.y, group.x, row / GROUPS);
      putRank(&meeting_of[lane][at], own, turn.y);
    }
  }
  workgroupBarrier();  // no lane waits before all have put what others wait for
  for (var row = group.x; row < rows; row += GROUPS) {
    var sums = vec2<f32>();
    for (var rank = 0u; rank < RANKS; rank++) {
      let at = inbox(select(rank, 0u, is_alone), turn.y, group.x, row / GROUPS);
      sums += takeRank(&meeting[at], turn.y);
    }
    let scale = inverseSqrt(sums.x / f32(ALL_COLUMNS) + EPS);
    for (var i = lane; i < COLUMNS; i += THREADS) {
      y[row * COLUMNS + i] = x[row * COLUMNS + i] * scale * w[i];
    }
    norm_other(row, sums.y, lane);
  }
  end(turn, group.x, lane);
}
