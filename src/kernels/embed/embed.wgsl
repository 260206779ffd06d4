// One element per lane; rows of tokens are grid.y. Contract and reference: embed.h.
@group(0) @binding(INPUT_0) var<storage, read> tokens: array<u32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  // Wraps for tokens before FIRST_ROW.
  let row = tokens[group.y] - FIRST_ROW;
  if (column < COLUMNS && row < ROWS) {
    y[group.y * COLUMNS + column] = SCALE * weight1(row * COLUMNS + column);
  }
  write_other(group.y, column);
}

