// One element per lane; rows are grid.y. `value` comes from the op's own file.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  if (column < COLUMNS) {
    y[group.y * COLUMNS + column] = value(group.y, column);
  }
}

