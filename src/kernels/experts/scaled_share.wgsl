@group(0) @binding(SCALE_INPUT) var<storage, read> scale: array<f32>;

fn expert_scale(expert: u32) -> f32 {
  return scale[expert];
}

