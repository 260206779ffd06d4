// Four rows of every chosen expert, by their shares, per workgroup, for one token; a lane loads its next
// weights before it multiplies. mix_results.wgsl stores the results. Contract: fused_experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

const UNITS = IN / 8u;

fn load_rows(unit: u32, first: u32) -> array<Stored8, 4> {
  let slot = min(unit / UNITS, TOP_K - 1u);
  let expert = min(chosen[slot] - FIRST_EXPERT, HELD - 1u);
  var all: array<Stored8, 4>;
  for (var r = 0u; r < 4u; r++) {  // unroll
    all[r] = load8((expert * OUT + min(first + r, OUT - 1u)) * UNITS + unit % UNITS);
  }
  return all;
}

fn run(group: vec3<u32>, lane: u32) {
  let first = group.x * 4u;
  var sums: array<f32, 4>;
  var next = load_rows(lane, first);
  for (var unit = lane; unit < TOP_K * UNITS; unit += THREADS) {
    var own = next;
    next = load_rows(unit + THREADS, first);
    let slot = unit / UNITS;
    // Its place in this part of the matrix; wraps for experts of earlier parts.
    let expert = min(chosen[slot], EXPERTS - 1u) - FIRST_EXPERT;
    if (expert < HELD) {
      let low = shares[slot] * x[2u * unit];
      let high = shares[slot] * x[2u * unit + 1u];
      for (var r = 0u; r < 4u; r++) {  // unroll
        let w = decode8(own[r]);
        sums[r] += dot(w[0], low) + dot(w[1], high);
      }
    }
  }
  let totals = reduce_sum4(vec4(sums[0], sums[1], sums[2], sums[3]), lane);
  if (lane < 4u) {
    store_mixed(first + lane, totals[lane]);
  }
}
