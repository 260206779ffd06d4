// The same as store.wgsl; beside each row it leaves a fixed-point sum that is 0.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;
@group(0) @binding(CLEARED_BINDING) var<storage, read_write> cleared: array<i32>;

fn store_one(row: u32, value: f32) {
  y[row] = value + bias(row);
  cleared[row] = 0;
  cleared[OUT + row] = 0;
}

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  store_one(row, value.x);
  if (row + 1u < OUT) {
    store_one(row + 1u, value.y);
  }
}
