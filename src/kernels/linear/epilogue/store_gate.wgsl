// Ending of `fused_linear` whose rows gate the columns of another row, from FIRST on.
@group(0) @binding(R_BINDING) var<storage, read> gated: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  y[row] = activate(value.x + bias(row)) * gated[FIRST + row];
  if (row + 1u < OUT) {
    y[row + 1u] = activate(value.y + bias(row + 1u)) * gated[FIRST + row + 1u];
  }
}
