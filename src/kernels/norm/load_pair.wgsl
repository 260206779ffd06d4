@group(0) @binding(INPUT_0) var<storage, read> a: array<Unit>;
@group(0) @binding(INPUT_1) var<storage, read> b: array<Unit>;
@group(0) @binding(INPUT_2) var<storage, read> w: array<Unit>;

fn load(i: u32) -> Unit {
  return a[i] + b[i];
}
