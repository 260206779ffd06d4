// Ending of `fused_linear` that adds the residual.
@group(0) @binding(R_BINDING) var<storage, read> added: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  y[token * OUT + row] = added[token * OUT + row] + value.x + bias(row);
  if (row + 1u < OUT) {
    y[token * OUT + row + 1u] = added[token * OUT + row + 1u] + value.y + bias(row + 1u);
  }
}
