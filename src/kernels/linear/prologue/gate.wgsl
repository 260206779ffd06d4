// The factors of x: columns of another row.
@group(0) @binding(G_BINDING) var<storage, read> gates: array<vec4<f32>>;

fn gate_of(at: u32) -> vec4<f32> {
  let four = gates[FIRST / 4u + at];
  return vec4(activate(four.x), activate(four.y), activate(four.z), activate(four.w));
}
