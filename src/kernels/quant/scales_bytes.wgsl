// A signed byte for each group, an f16 for each 256 weights.
fn group_scale(group: u32) -> f32 {
  let byte = weight_words[SCALES + group / 4u] << (24u - 8u * (group % 4u));
  let block = group * GROUP / 256u;
  let d = unpack2x16float(weight_words[ZEROS + block / 2u])[block % 2u];
  return d * f32(bitcast<i32>(byte) >> 24u);
}
