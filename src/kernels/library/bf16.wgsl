// Four numbers rounded to bf16, to nearest, ties to even; what is no number stays so.
fn as_half(x: vec4<f32>) -> vec2<u32> {
  let bits = bitcast<vec4<u32>>(x);
  let rounded = (bits + 0x7fffu + ((bits >> vec4(16u)) & vec4(1u))) >> vec4(16u);
  let is_number = (bits & vec4(0x7fffffffu)) <= vec4(0x7f800000u);
  let all = select(vec4(0x7fc0u), rounded, is_number);
  return all.xz | (all.yw << vec2(16u));
}
