// The best of a workgroup's rows, which are one block: see choice_ops.h.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<f32>>;

fn finish(first: u32, scale: f32, lane: u32) {
  var best = vec2(LOWEST, f32(FIRST_ROW + first));
  for (var r = lane; r < GROUP_ROWS; r += THREADS) {
    if (first + r < ROWS) {
      let row = FIRST_ROW + first + r;
      best = better(best, vec2(cap_score(total(r) * scale + bias(row)), f32(row)));
    }
  }
  best = best_of_all(best, lane);
  if (lane == 0u) {
    y[(FIRST_ROW + first) / GROUP_ROWS] = best;
  }
}
