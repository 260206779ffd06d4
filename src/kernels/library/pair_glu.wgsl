// Four results of a row per lane.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<u32>>;

fn run(group: vec3<u32>, lane: u32) {
  let four = group.x * THREADS + lane;
  if (four < FOURS) {
    let i = group.y * FOURS + four;
    let a = four_of(2u * i);
    let b = four_of(2u * i + 1u);
    y[i] = as_half(vec4(activate(a.x) * a.y, activate(a.z) * a.w, activate(b.x) * b.y, activate(b.z) * b.w));
  }
}
