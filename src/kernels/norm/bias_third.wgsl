@group(0) @binding(INPUT_3) var<storage, read> bias: array<Unit>;

fn bias_at(i: u32) -> Unit {
  return bias[i];
}
