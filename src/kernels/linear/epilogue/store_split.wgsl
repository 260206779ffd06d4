// Ending of `qkv`; what belongs to which output is in store_split2.wgsl to store_split4.wgsl.
fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  store_one(token, row, value.x + bias(row));
  if (row + 1u < OUT) {
    store_one(token, row + 1u, value.y + bias(row + 1u));
  }
}
