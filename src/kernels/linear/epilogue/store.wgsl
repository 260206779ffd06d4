// Ending of `linear`, and of finish_sums.wgsl. `row` is even; row + 1 may lie past the last.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  y[token * OUT + row] = value.x + bias(row);
  if (row + 1u < OUT) {
    y[token * OUT + row + 1u] = value.y + bias(row + 1u);
  }
}

