@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Unit>;

fn store(i: u32, value: Unit) {
  y[i] = value;
}
