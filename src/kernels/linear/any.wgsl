// Two rows of one token per workgroup, element by element: every row length. Contract: linear.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

fn run(group: vec3<u32>, lane: u32) {
  let row = (group.y * GRID_X + group.x) * 2u;
  if (row >= ROWS) {
    return;
  }
  let next = min(row + 1u, ROWS - 1u);
  var sums = vec4<f32>();
  for (var i = lane; i < IN; i += THREADS) {
    let value = x[group.z * IN + i];
    sums.x += value * weight1(row * IN + i);
    sums.y += value * weight1(next * IN + i);
  }
  let totals = reduce_sum4(sums, lane);
  if (lane == 0u) {
    store_pair(group.z, FIRST_ROW + row, totals.xy);
  }
}

