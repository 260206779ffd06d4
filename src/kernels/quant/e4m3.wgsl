// f8e4m3 in the low 8 bits of four words. As the upper bits of an f32 its exponent is 120 too small;
// without one it counts in steps of 2^-9, which as an f32 a device may flush.
fn e4m3(bits: vec4<u32>) -> vec4<f32> {
  let magnitude = bits & vec4(127u);
  let normal = bitcast<vec4<f32>>(magnitude << vec4(20u)) * 0x1p120;
  let small = vec4<f32>(magnitude) * 0x1p-9;
  let value = select(small, normal, magnitude > vec4(7u));
  return select(value, -value, bits > vec4(127u));
}
