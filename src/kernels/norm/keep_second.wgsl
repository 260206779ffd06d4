@group(0) @binding(OUTPUT_1) var<storage, read_write> sum: array<Unit>;

fn keep(i: u32, value: Unit) {
  sum[i] = value;
}
fn kept(i: u32) -> Unit {
  return sum[i];
}
