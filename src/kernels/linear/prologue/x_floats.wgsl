// The x of a product for one token, as it is.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;

fn x_at(at: u32) -> vec4<f32> {
  return x[at];
}
