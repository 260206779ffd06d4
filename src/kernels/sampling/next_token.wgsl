// One workgroup for all candidates of a row; rows are grid.x. Contract: sampling.h
@group(0) @binding(INPUT_0) var<storage, read> candidates: array<vec2<f32>>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> ids: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  var best = vec2(LOWEST, 0.0);
  for (var first = lane; first < CANDIDATES; first += LOADS * THREADS) {
    for (var i = 0u; i < LOADS; i++) {  // unroll
      best = better(best, candidates[group.x * CANDIDATES + min(first + i * THREADS, CANDIDATES - 1u)]);
    }
  }
  best = best_of_lanes(best, lane);
  if (lane == 0u) {
    let is_token = best.x > LOWEST && best.x <= -LOWEST;
    ids[batch.slot[group.x].chosen % IDS * MAX_ROWS + group.x] = select(-1.0, best.y, is_token);
    to_next_step(group.x, select(0u, u32(best.y), is_token));
  }
}
