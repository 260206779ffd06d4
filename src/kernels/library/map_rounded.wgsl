// The same as elementwise/map.wgsl, rounded to bf16: two elements per lane.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<u32>;

fn run(group: vec3<u32>, lane: u32) {
  let column = 2u * (group.x * THREADS + lane);
  if (column < COLUMNS) {
    let two = vec4(value(group.y, column), value(group.y, column + 1u), 0.0, 0.0);
    y[(group.y * COLUMNS + column) / 2u] = as_half(two).x;
  }
}
