// Stores units of four.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<u32>>;

fn store(i: u32, value: Unit) {
  y[i] = as_half(value);
  store_plain(i, value);
}
