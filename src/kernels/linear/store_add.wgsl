// Ending of `fused_linear` that adds the residual.
@group(0) @binding(R_BINDING) var<storage, read> added: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn added_pair(token: u32, row: u32) -> vec2<f32> {
  let at = token * OUT + row;
  return vec2(added[at], added[min(at + 1u, token * OUT + OUT - 1u)]);
}

fn store_sum(token: u32, row: u32, value: vec2<f32>) {
  y[token * OUT + row] = value.x + bias(row);
  if (row + 1u < OUT) {
    y[token * OUT + row + 1u] = value.y + bias(row + 1u);
  }
}

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  store_sum(token, row, value + added_pair(token, row));
}
