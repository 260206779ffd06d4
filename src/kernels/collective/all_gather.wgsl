// The columns of every rank, one rank after the other.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Part>;

fn run(group: vec3<u32>, lane: u32) {
  meet(group.x, lane);
  let count = select(step_rows(), 1u, ONE_ROW == 1u) * COLUMNS;
  for (var i = group.x * THREADS + lane; i < count; i += GROUPS * THREADS) {
    let column = i % COLUMNS;
    y[i] = part_of[column / OWN_COLUMNS][i / COLUMNS * OWN_COLUMNS + column % OWN_COLUMNS];
  }
  leave(group.x, lane);
}
