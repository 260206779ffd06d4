// The result of a row of expert_mix. Of a matrix in parts the first begins the sum and the others go on
// with it.
@group(0) @binding(INPUT_3) var<storage, read> shares: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn store_mixed(row: u32, sum: f32) {
  if (row >= OUT) {
    return;
  }
  if (FIRST_EXPERT == 0u) {
    var biases = 0.0;
    for (var slot = 0u; slot < BIASES; slot++) {
      biases += shares[slot] * bias_of(slot, row);
    }
    y[row] = residual(row) + biases + sum;
  } else {
    y[row] += sum;
  }
}
