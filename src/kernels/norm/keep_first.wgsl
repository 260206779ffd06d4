@group(0) @binding(OUTPUT_0) var<storage, read_write> sum: array<Unit>;

fn keep(i: u32, value: Unit) {
  sum[i] = value;
}
