// Eight neighbouring f16 elements of the cache; core WGSL, no f16 feature needed.
alias CacheUnit = vec4<u32>;

fn unpack_unit(unit: CacheUnit) -> array<vec4<f32>, 2> {
  return array(vec4(unpack2x16float(unit.x), unpack2x16float(unit.y)),
               vec4(unpack2x16float(unit.z), unpack2x16float(unit.w)));
}
fn pack_unit(values: array<vec4<f32>, 2>, step: f32) -> CacheUnit {
  let a = clamp(values[0], vec4(-65504.0), vec4(65504.0));
  let b = clamp(values[1], vec4(-65504.0), vec4(65504.0));
  return vec4(pack2x16float(a.xy), pack2x16float(a.zw), pack2x16float(b.xy), pack2x16float(b.zw));
}
