@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;

fn four_of(i: u32) -> vec4<f32> {
  return x[i];
}
