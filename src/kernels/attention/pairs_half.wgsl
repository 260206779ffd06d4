@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<u32>;

fn store_pair(at: u32, pair: vec2<f32>) {
  y[at] = as_half(vec4(pair.x, pair.y, 0.0, 0.0)).x;
}
