// The best of each block of a workgroup's rows: see sampling_ops.h. BEST_LANES lanes search a block.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<f32>>;

fn load_next_product(first: u32, lane: u32) {}
fn begin_finish(first: u32, lane: u32) {}

fn finish(first: u32, scale: f32, lane: u32) {
  let block = lane / BEST_LANES * BLOCK_ROWS;
  var best = vec2(LOWEST, f32(FIRST_ROW + first + block));
  for (var r = block + lane % BEST_LANES; r < min(block + BLOCK_ROWS, GROUP_ROWS); r += BEST_LANES) {
    if (first + r < ROWS) {
      let row = FIRST_ROW + first + r;
      best = better(best, vec2(cap_score(total(r) * scale + bias(row)), f32(row)));
    }
  }
  best = best_of_lanes(best, lane);
  if (lane % BEST_LANES == 0u && block < GROUP_ROWS && first + block < ROWS) {
    y[(FIRST_ROW + first + block) / BLOCK_ROWS] = best;
  }
}
