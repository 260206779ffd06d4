// Four outputs of `qkv`: each row goes to the one it belongs to.
@group(0) @binding(OUTPUT_0) var<storage, read_write> a: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> b: array<f32>;
@group(0) @binding(OUTPUT_2) var<storage, read_write> c: array<f32>;
@group(0) @binding(OUTPUT_3) var<storage, read_write> d: array<f32>;

fn store_one(token: u32, row: u32, value: f32) {
  if (row < ROWS_0) {
    a[token * ROWS_0 + row] = value;
  } else if (row < ROWS_0 + ROWS_1) {
    b[token * ROWS_1 + row - ROWS_0] = value;
  } else if (row < ROWS_0 + ROWS_1 + ROWS_2) {
    c[token * ROWS_2 + row - (ROWS_0 + ROWS_1)] = value;
  } else {
    d[token * ROWS_3 + row - (ROWS_0 + ROWS_1 + ROWS_2)] = value;
  }
}
