@group(0) @binding(INPUT_1) var<storage, read> bias: array<vec4<f32>>;

fn bias_four(four: u32) -> vec4<f32> {
  return bias[four];
}
