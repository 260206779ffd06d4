// The residual that finish_sums.wgsl adds, as it is.
@group(0) @binding(R_BINDING) var<storage, read> added: array<f32>;

fn added_at(row: u32) -> f32 {
  return added[row];
}
