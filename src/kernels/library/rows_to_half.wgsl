// Four columns of a row per lane.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<u32>>;

fn run(group: vec3<u32>, lane: u32) {
  let four = group.x * THREADS + lane;
  if (four < FOURS) {
    let i = group.y * FOURS + four;
    let a = four_of(i) + bias_four(four);
    y[i] = as_half(vec4(activate(a.x), activate(a.y), activate(a.z), activate(a.w)));
  }
}
