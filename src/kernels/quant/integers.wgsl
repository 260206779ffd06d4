// Numbers stand for themselves.
fn quants8(stored: Quanta) -> array<vec4<f32>, 2> {
  let numbers = numbers8(stored);
  return array(vec4<f32>(numbers[0]), vec4<f32>(numbers[1]));
}
