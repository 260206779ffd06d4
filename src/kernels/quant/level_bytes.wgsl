// Numbers stand for levels, signed bytes of LEVELS_0 .. LEVELS_3, in units of LEVEL_UNIT.
fn levels(numbers: vec4<u32>) -> vec4<f32> {
  let odd = (numbers & vec4(4u)) != vec4(0u);
  let words = select(select(vec4(LEVELS_0), vec4(LEVELS_1), odd),
                     select(vec4(LEVELS_2), vec4(LEVELS_3), odd), numbers > vec4(7u));
  let bytes = words << (vec4(24u) - 8u * (numbers & vec4(3u)));
  return LEVEL_UNIT * vec4<f32>(bitcast<vec4<i32>>(bytes) >> vec4(24u));
}
