// Eight columns of one head's matrix per lane, for ROWS rows of x; heads are grid.y. In steps of few
// rows the PARTS parts of a workgroup have every PARTS-th four of the matrix' rows, and add up what
// they found. Contract: latent.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec4<f32>>;

const COLUMN_LANES = THREADS / PARTS;

var<workgroup> low_sums: array<vec4<f32>, THREADS>;
var<workgroup> high_sums: array<vec4<f32>, THREADS>;

fn run(group: vec3<u32>, lane: u32) {
  let head = group.y;
  let part = lane / COLUMN_LANES;
  let eight = group.x * COLUMN_LANES + lane % COLUMN_LANES;
  let last_row = step_rows() - 1u;
  var low: array<vec4<f32>, ROWS>;
  var high: array<vec4<f32>, ROWS>;
  if (eight < OUT / 8u) {
    for (var four = part; four < (IN + 3u) / 4u; four += PARTS) {
      for (var u = 0u; u < 4u; u++) {  // unroll
        let k = min(4u * four + u, IN - 1u);
        let share = select(0.0, 1.0, 4u * four + u < IN);
        let w = weights8((head * IN + k) * (OUT / 8u) + eight);
        for (var i = 0u; i < ROWS; i++) {
          let row = min(group.z * ROWS + i, last_row);
          let value = x[(row * HEADS + head) * IN + k] * share;
          low[i] += value * w[0];
          high[i] += value * w[1];
        }
      }
    }
  }
  for (var i = 0u; i < ROWS; i++) {
    if (PARTS > 1u) {
      workgroupBarrier();
      low_sums[lane] = low[i];
      high_sums[lane] = high[i];
      workgroupBarrier();
      for (var p = 1u; p < PARTS; p++) {
        if (part == 0u) {
          low[i] += low_sums[lane + p * COLUMN_LANES];
          high[i] += high_sums[lane + p * COLUMN_LANES];
        }
      }
    }
    let row = group.z * ROWS + i;
    if (part == 0u && eight < OUT / 8u && row <= last_row) {
      let at = (row * HEADS + head) * (OUT / 4u) + 2u * eight;
      y[at] = low[i];
      y[at + 1u] = high[i];
    }
  }
}
