// Four numbers rounded to f16; what is beyond it becomes its last number, what is no number stays so.
fn as_half(x: vec4<f32>) -> vec2<u32> {
  let is_number = (bitcast<vec4<u32>>(x) & vec4(0x7fffffffu)) <= vec4(0x7f800000u);
  let all = select(x, clamp(x, vec4(-65504.0), vec4(65504.0)), is_number);
  return vec2(pack2x16float(all.xy), pack2x16float(all.zw));
}
