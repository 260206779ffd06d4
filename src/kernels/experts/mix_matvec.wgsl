// Four rows of every chosen expert, by their shares, per workgroup, for one token. Of a matrix in
// parts the first begins the sum and the others go on with it. Contract: fused_experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;
@group(0) @binding(INPUT_3) var<storage, read> shares: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const UNITS = IN / 8u;

fn run(group: vec3<u32>, lane: u32) {
  let first = group.x * 4u;
  var sums: array<f32, 4>;
  for (var unit = lane; unit < TOP_K * UNITS; unit += THREADS) {
    let slot = unit / UNITS;
    // Its place in this part of the matrix; wraps for experts of earlier parts.
    let expert = min(chosen[slot], EXPERTS - 1u) - FIRST_EXPERT;
    if (expert < HELD) {
      let low = shares[slot] * x[2u * unit];
      let high = shares[slot] * x[2u * unit + 1u];
      for (var r = 0u; r < 4u; r++) {
        let w = weights8((expert * OUT + min(first + r, OUT - 1u)) * UNITS + unit % UNITS);
        sums[r] += dot(w[0], low) + dot(w[1], high);
      }
    }
  }
  let totals = reduce_sum4(vec4(sums[0], sums[1], sums[2], sums[3]), lane);
  let row = first + lane;
  if (lane < 4u && row < OUT) {
    if (FIRST_EXPERT == 0u) {
      y[row] = residual(row) + totals[lane];
    } else {
      y[row] += totals[lane];
    }
  }
}
