@group(0) @binding(OUTPUT_2) var<storage, read_write> plain: array<Unit>;

fn store_plain(i: u32, value: Unit) {
  plain[i] = value;
}
