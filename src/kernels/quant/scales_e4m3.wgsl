// f8e4m3 for each group, an f32 for each row of ROW_GROUPS of them.
fn group_scale(group: u32) -> f32 {
  let byte = (weight_words[SCALES + group / 4u] >> (8u * (group % 4u))) & 255u;
  return e4m3(vec4(byte)).x * bitcast<f32>(weight_words[ZEROS + group / ROW_GROUPS]);
}
