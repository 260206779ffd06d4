// Eight neighbouring elements of the cache.
struct CacheUnit {
  low: vec4<f32>,
  high: vec4<f32>,
}

fn unpack_unit(unit: CacheUnit) -> array<vec4<f32>, 2> {
  return array(unit.low, unit.high);
}
fn pack_unit(values: array<vec4<f32>, 2>, step: f32) -> CacheUnit {
  return CacheUnit(values[0], values[1]);
}
