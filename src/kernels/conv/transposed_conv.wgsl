// Contract: transposed_conv.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> w: array<f32>;
@group(0) @binding(INPUT_2) var<storage, read> bias: array<f32>;

const GROUP = X_COLUMNS / OUT;

fn value(row: u32, column: u32) -> f32 {
  let phase = column / OUT;
  let own = column % OUT;
  let has_before = row > batch.slot[slot_of_row(row)].start;
  var sum = bias[own];
  for (var c = own * GROUP; c < (own + 1u) * GROUP; c++) {
    sum += w[c * 2u * RATE + phase] * x[row * X_COLUMNS + c];
    if (has_before) {
      sum += w[c * 2u * RATE + phase + RATE] * x[(row - 1u) * X_COLUMNS + c];
    }
  }
  return sum;
}
