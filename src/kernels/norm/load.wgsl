@group(0) @binding(INPUT_0) var<storage, read> x: array<Unit>;
@group(0) @binding(INPUT_1) var<storage, read> w: array<Unit>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Unit>;

fn load(i: u32) -> Unit {
  return x[i];
}
fn keep(i: u32, value: Unit) {}
fn kept(i: u32) -> Unit {
  return x[i];
}
