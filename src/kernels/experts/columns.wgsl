// The columns of each slot in the order of its expert. Contract: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> order: array<u32>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

fn value(row: u32, column: u32) -> f32 {
  let slot = column / IN;
  let expert = min(chosen[row * TOP_K + slot], EXPERTS - 1u);
  return x[(row * X_ROWS + slot % X_ROWS) * IN + order[expert * IN + column % IN]];
}
