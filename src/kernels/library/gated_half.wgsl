// Four results of a row per lane; normed() makes what is gated of the columns of `up`.
@group(0) @binding(INPUT_0) var<storage, read> gates: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> up: array<vec4<f32>>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<u32>>;

fn up_four(row: u32, four: u32) -> vec4<f32> {
  return up[row * (UP_COLUMNS / 4u) + FIRST / 4u + four];
}

fn run(group: vec3<u32>, lane: u32) {
  let four = group.x * THREADS + lane;
  let i = group.y * FOURS + min(four, FOURS - 1u);
  let value = normed(group.y, min(four, FOURS - 1u));
  if (four < FOURS) {
    let gate = gates[i];
    y[i] = as_half(vec4(activate(gate.x), activate(gate.y), activate(gate.z), activate(gate.w)) * value);
  }
}
