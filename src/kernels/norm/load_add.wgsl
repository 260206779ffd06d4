@group(0) @binding(INPUT_0) var<storage, read> a: array<Unit>;
@group(0) @binding(INPUT_1) var<storage, read> b: array<Unit>;
@group(0) @binding(INPUT_2) var<storage, read> w: array<Unit>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> sum: array<Unit>;

// Each of the PARTS parts of `a` has a whole row.
fn load(i: u32) -> Unit {
  let first = i / COLUMNS * PARTS * COLUMNS + i % COLUMNS;
  var value = b[i];
  for (var p = 0u; p < PARTS; p++) {  // unroll
    value += a[first + p * COLUMNS];
  }
  return value;
}
fn keep(i: u32, value: Unit) {
  sum[i] = value;
}
fn kept(i: u32) -> Unit {
  return sum[i];
}
