// Numbers stand for levels, LEVEL_0 .. LEVEL_15.
fn levels(numbers: vec4<u32>) -> vec4<f32> {
  let odd = (numbers & vec4(1u)) != vec4(0u);
  let two = (numbers & vec4(2u)) != vec4(0u);
  let four = (numbers & vec4(4u)) != vec4(0u);
  let a = select(select(vec4(LEVEL_0), vec4(LEVEL_1), odd),
                 select(vec4(LEVEL_2), vec4(LEVEL_3), odd), two);
  let b = select(select(vec4(LEVEL_4), vec4(LEVEL_5), odd),
                 select(vec4(LEVEL_6), vec4(LEVEL_7), odd), two);
  let c = select(select(vec4(LEVEL_8), vec4(LEVEL_9), odd),
                 select(vec4(LEVEL_10), vec4(LEVEL_11), odd), two);
  let d = select(select(vec4(LEVEL_12), vec4(LEVEL_13), odd),
                 select(vec4(LEVEL_14), vec4(LEVEL_15), odd), two);
  return select(select(a, b, four), select(c, d, four), numbers > vec4(7u));
}
