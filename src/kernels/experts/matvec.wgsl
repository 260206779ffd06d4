// Four rows of the expert of one slot per workgroup; slots are grid.y, tokens grid.z.
// results.wgsl stores the results. Contract: experts.h, fused_experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

fn run(group: vec3<u32>, lane: u32) {
  let first = group.x * 4u;
  let slot = group.z * TOP_K + group.y;
  // Its place in this part of the matrix; wraps for experts of earlier parts.
  let expert = min(chosen[slot], EXPERTS - 1u) - FIRST_EXPERT;
  if (expert >= HELD) {
    return;
  }
  let x_start = (group.z * X_ROWS + group.y % X_ROWS) * (IN / 4u);
  var sums: array<f32, 4>;
  for (var k = lane; k < IN / 8u; k += THREADS) {
    let low = input(x_start + 2u * k);
    let high = input(x_start + 2u * k + 1u);
    for (var r = 0u; r < 4u; r++) {
      let row = stored_row(min(first + r, EXPERT_ROWS - 1u));
      let w = weights8((expert * EXPERT_ROWS + row) * (IN / 8u) + k);
      sums[r] += dot(w[0], low) + dot(w[1], high);
    }
  }
  let totals = input_scale(lane) * reduce_sum4(vec4(sums[0], sums[1], sums[2], sums[3]), lane);
  if (lane < 2u) {
    store_pair(slot, first + 2u * lane, select(totals.xy, totals.zw, lane == 1u));
  }
}

