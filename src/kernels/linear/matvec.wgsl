// Four rows for one token per workgroup; lanes split the columns in eights. Contract: linear.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

fn run(group: vec3<u32>, lane: u32) {
  let first = (group.y * GRID_X + group.x) * 4u;
  if (first >= ROWS) {
    return;
  }
  var sums: array<f32, 4>;
  for (var k = lane; k < IN / 8u; k += THREADS) {
    let low = x[2u * k];
    let high = x[2u * k + 1u];
    for (var r = 0u; r < 4u; r++) {
      let w = weights8(min(first + r, ROWS - 1u) * (IN / 8u) + k);
      sums[r] += dot(w[0], low) + dot(w[1], high);
    }
  }
  let totals = reduce_sum4(vec4(sums[0], sums[1], sums[2], sums[3]), lane);
  if (lane == 0u) {
    store_pair(0u, FIRST_ROW + first, totals.xy);
    if (first + 2u < ROWS) {
      store_pair(0u, FIRST_ROW + first + 2u, totals.zw);
    }
  }
}

