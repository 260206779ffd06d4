// Numbers that stand for levels: see level_*.wgsl.
fn quants8(stored: Quanta) -> array<vec4<f32>, 2> {
  let numbers = numbers8(stored);
  return array(levels(numbers[0]), levels(numbers[1]));
}

