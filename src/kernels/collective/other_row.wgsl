// The rows of a second value, whose squares cross with those of the first.
@group(0) @binding(INPUT_2) var<storage, read> other_x: array<Part>;
@group(0) @binding(INPUT_3) var<storage, read> other_w: array<Part>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> other_y: array<Part>;

fn other_squares(row: u32, lane: u32) -> f32 {
  var squares = 0.0;
  for (var i = lane; i < OTHER_COLUMNS; i += THREADS) {
    squares += square_of(other_x[row * OTHER_COLUMNS + i]);
  }
  return reduce_sum(squares, lane);
}
fn norm_other(row: u32, squares: f32, lane: u32) {
  let scale = inverseSqrt(squares / f32(ALL_OTHER_COLUMNS) + EPS);
  for (var i = lane; i < OTHER_COLUMNS; i += THREADS) {
    let at = row * OTHER_COLUMNS + i;
    other_y[at] = other_x[at] * scale * other_w[i];
  }
}
