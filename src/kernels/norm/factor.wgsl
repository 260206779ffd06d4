@group(0) @binding(INPUT_3) var<storage, read> k: array<f32>;

fn factor() -> f32 {
  return k[0];
}
