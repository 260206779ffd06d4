// A byte e for each group, 2^(e - 127): the exponent of an f32.
fn group_scale(group: u32) -> f32 {
  let byte = (weight_words[SCALES + group / 4u] >> (8u * (group % 4u))) & 255u;
  return bitcast<f32>(byte << 23u);
}
