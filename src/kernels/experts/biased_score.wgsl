@group(0) @binding(INPUT_1) var<storage, read> bias: array<f32>;

fn expert_bias(expert: u32) -> f32 {
  return bias[expert];
}

