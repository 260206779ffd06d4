// w = s q + o
fn weights8(i: u32) -> array<vec4<f32>, 2> {
  let q = quants8(i);
  let pair = affine(i);
  return array(pair.x * q[0] + pair.y, pair.x * q[1] + pair.y);
}
