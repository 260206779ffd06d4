@group(0) @binding(INPUT_0) var<storage, read> a: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> b: array<f32>;
@group(0) @binding(INPUT_2) var<storage, read> w: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> sum: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> y: array<f32>;

fn load(i: u32) -> f32 {
  return a[i] + b[i];
}
fn keep(i: u32, value: f32) {
  sum[i] = value;
}

