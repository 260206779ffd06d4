@group(0) @binding(INPUT_3) var<storage, read> r: array<f32>;

fn summand(at: u32) -> f32 {
  return r[at];
}
