// The same as finish_rows.wgsl, for `fused_linear` that adds the residual, which is loaded before
// the weights are used: added_*.wgsl.
const GROUP_PAIRS = GROUP_ROWS / 2u;
var<private> prefetched: array<vec2<f32>, PAIRS>;

fn load_next_product(first: u32, lane: u32) {}

fn begin_finish(first: u32, lane: u32) {
  for (var i = 0u; i < PAIRS; i++) {  // unroll
    let row = FIRST_ROW + first + 2u * min(i * THREADS + lane, GROUP_PAIRS - 1u);
    prefetched[i] = vec2(added_at(min(row, OUT - 1u)), added_at(min(row + 1u, OUT - 1u)));
  }
}

fn finish(first: u32, scale: f32, lane: u32) {
  for (var i = 0u; i < PAIRS; i++) {  // unroll
    let pair = i * THREADS + lane;
    let row = first + 2u * pair;
    if (pair < GROUP_PAIRS && row < ROWS) {
      store_pair(0u, FIRST_ROW + row,
                 prefetched[i] + scale * vec2(total(2u * pair), total(2u * pair + 1u)));
    }
  }
}
