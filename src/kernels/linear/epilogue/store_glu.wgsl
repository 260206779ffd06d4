// Ending of `linear_glu`: even rows are gates, odd rows what they gate.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  y[token * (OUT / 2u) + row / 2u] = activate(value.x + bias(row)) * (value.y + bias(row + 1u));
}

