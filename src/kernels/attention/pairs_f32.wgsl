@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<f32>>;

fn store_pair(at: u32, pair: vec2<f32>) {
  y[at] = pair;
}
