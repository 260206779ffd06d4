// One row of the expert of one slot per workgroup, element by element: every row length. Slots are
// grid.y, tokens grid.z. Contract: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  let slot = group.z * TOP_K + group.y;
  // Its place in this part of the matrix; wraps for experts of earlier parts.
  let expert = min(chosen[slot], EXPERTS - 1u) - FIRST_EXPERT;
  if (expert >= HELD) {
    return;
  }
  let x_start = (group.z * X_ROWS + group.y % X_ROWS) * IN;
  let w_start = (expert * OUT + group.x) * IN;
  var sum = 0.0;
  for (var i = lane; i < IN; i += THREADS) {
    sum += x[x_start + i] * weight1(w_start + i);
  }
  let total = reduce_sum(sum, lane);
  if (lane == 0u) {
    y[slot * OUT + group.x] = total + bias_of(slot, group.x);
  }
}

