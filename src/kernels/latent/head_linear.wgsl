// Four rows of one head's matrix per workgroup, for ROWS rows of x; heads are grid.y. Contract:
// latent.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  let head = group.y;
  let first = group.x * 4u;
  let last_row = step_rows() - 1u;
  var sums: array<f32, 4u * ROWS>;
  for (var k = lane; k < IN / 8u; k += THREADS) {
    for (var r = 0u; r < 4u; r++) {
      let w = weights8((head * OUT + min(first + r, OUT - 1u)) * (IN / 8u) + k);
      for (var i = 0u; i < ROWS; i++) {
        let row = min(group.z * ROWS + i, last_row);
        let at = (row * HEADS + head) * (IN / 4u) + 2u * k;
        sums[4u * i + r] += dot(w[0], x[at]) + dot(w[1], x[at + 1u]);
      }
    }
  }
  for (var i = 0u; i < ROWS; i++) {
    let own = vec4(sums[4u * i], sums[4u * i + 1u], sums[4u * i + 2u], sums[4u * i + 3u]);
    let totals = reduce_sum4(own, lane);
    let row = group.z * ROWS + i;
    if (lane < 4u && first + lane < OUT && row <= last_row) {
      y[(row * HEADS + head) * OUT + first + lane] = totals[lane];
    }
  }
}
