// Numbers are f4e2m1: a sign, two bits of exponent, one of mantissa. As those of an f32 they give v, which
// is right but where the exponent is 0: there it is 2 v - 1, which is less than v nowhere else.
fn levels(numbers: vec4<u32>) -> vec4<f32> {
  let v = bitcast<vec4<f32>>(((numbers & vec4(7u)) << vec4(22u)) + vec4(126u << 23u));
  let size = bitcast<vec4<u32>>(min(v, 2.0 * v - 1.0));
  return bitcast<vec4<f32>>(size | ((numbers & vec4(8u)) << vec4(28u)));
}

