// The residual that finish_sums.wgsl adds, of fixed-point sums.
@group(0) @binding(R_BINDING) var<storage, read> added: array<i32>;

fn added_at(row: u32) -> f32 {
  return value_of_sum(added[row], added[OUT + row]);
}
