// One result per lane, element by element: every size of a head. Heads are grid.y, rows of x are
// grid.z. Contract: latent.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  if (column >= OUT) {
    return;
  }
  let x_start = (group.z * HEADS + group.y) * IN;
  var sum = 0.0;
  for (var k = 0u; k < IN; k++) {
    let plain = (group.y * OUT + column) * IN + k;
    let transposed = (group.y * IN + k) * OUT + column;
    sum += x[x_start + k] * weight1(select(plain, transposed, TRANSPOSED == 1u));
  }
  y[(group.z * HEADS + group.y) * OUT + column] = sum;
}
