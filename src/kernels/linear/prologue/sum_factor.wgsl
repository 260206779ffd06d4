@group(0) @binding(K_BINDING) var<storage, read> factor: array<f32>;

fn sum_factor() -> f32 {
  return factor[0];
}
