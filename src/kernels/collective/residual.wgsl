@group(0) @binding(INPUT_1) var<storage, read> residual: array<Part>;

fn begin_sum(i: u32) -> Part {
  return residual[i];
}
