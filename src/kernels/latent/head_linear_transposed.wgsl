// Eight columns of one head's matrix per lane, for ROWS rows of x; heads are grid.y. Contract:
// latent.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec4<f32>>;

fn run(group: vec3<u32>, lane: u32) {
  let head = group.y;
  let eight = group.x * THREADS + lane;
  let last_row = step_rows() - 1u;
  if (eight >= OUT / 8u) {
    return;
  }
  var low: array<vec4<f32>, ROWS>;
  var high: array<vec4<f32>, ROWS>;
  for (var k = 0u; k < IN; k++) {
    let w = weights8((head * IN + k) * (OUT / 8u) + eight);
    for (var i = 0u; i < ROWS; i++) {
      let row = min(group.z * ROWS + i, last_row);
      let value = x[(row * HEADS + head) * IN + k];
      low[i] += value * w[0];
      high[i] += value * w[1];
    }
  }
  for (var i = 0u; i < ROWS; i++) {
    let row = group.z * ROWS + i;
    if (row <= last_row) {
      let at = (row * HEADS + head) * (OUT / 4u) + 2u * eight;
      y[at] = low[i];
      y[at + 1u] = high[i];
    }
  }
}
