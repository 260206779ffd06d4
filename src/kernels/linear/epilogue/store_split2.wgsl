// Two outputs of `qkv`: each row goes to the one it belongs to.
@group(0) @binding(OUTPUT_0) var<storage, read_write> a: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> b: array<f32>;

fn store_one(token: u32, row: u32, value: f32) {
  if (row < ROWS_0) {
    a[token * ROWS_0 + row] = value;
  } else {
    b[token * ROWS_1 + row - ROWS_0] = value;
  }
}
