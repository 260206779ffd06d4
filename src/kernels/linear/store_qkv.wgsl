// Ending of `qkv`: each row goes to the output it belongs to.
@group(0) @binding(OUTPUT_0) var<storage, read_write> q: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> k: array<f32>;
@group(0) @binding(OUTPUT_2) var<storage, read_write> v: array<f32>;
const V_ROWS = OUT - Q_ROWS - K_ROWS;

fn store_one(token: u32, row: u32, value: f32) {
  if (row < Q_ROWS) {
    q[token * Q_ROWS + row] = value;
  } else if (row < Q_ROWS + K_ROWS) {
    k[token * K_ROWS + row - Q_ROWS] = value;
  } else {
    v[token * V_ROWS + row - Q_ROWS - K_ROWS] = value;
  }
}

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  store_one(token, row, value.x + bias(row));
  if (row + 1u < OUT) {
    store_one(token, row + 1u, value.y + bias(row + 1u));
  }
}

