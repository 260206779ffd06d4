// s (q - ZERO_POINT)
fn weights8(i: u32) -> array<vec4<f32>, 2> {
  let q = quants8(i);
  let group = i / (GROUP / 8u);
  let s = scale_pair(group / 2u)[group % 2u];
  return array(s * (q[0] - ZERO_POINT), s * (q[1] - ZERO_POINT));
}

