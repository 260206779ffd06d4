// s (q - z - 1). A row's z begin at a byte: UNUSED_ZEROS is 1 where its last one is half empty.
fn weights8(i: u32) -> array<vec4<f32>, 2> {
  let q = quants8(i);
  let group = i / (GROUP / 8u);
  let s = scale_pair(group / 2u)[group % 2u];
  let at = group + group / ROW_GROUPS * UNUSED_ZEROS;
  let z = f32((weight_words[ZEROS + at / 8u] >> (4u * (at % 8u))) & 15u) + 1.0;
  return array(s * (q[0] - z), s * (q[1] - z));
}

