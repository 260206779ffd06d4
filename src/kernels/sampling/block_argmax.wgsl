// Some blocks of BEST_LANES neighbours per workgroup; tokens are grid.y. Contract: sampling.h
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<f32>>;

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  var best = vec2(LOWEST, f32(column));
  if (column < COLUMNS) {
    best = better(best, vec2(x[group.y * COLUMNS + column], f32(column)));
  }
  best = best_of_lanes(best, lane);
  if (lane % BEST_LANES == 0u && column < COLUMNS) {
    y[group.y * ((COLUMNS + BEST_LANES - 1u) / BEST_LANES) + column / BEST_LANES] = best;
  }
}
