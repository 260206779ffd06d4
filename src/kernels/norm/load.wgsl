@group(0) @binding(INPUT_0) var<storage, read> x: array<Unit>;
@group(0) @binding(INPUT_1) var<storage, read> w: array<Unit>;

fn load(i: u32) -> Unit {
  return x[i];
}
