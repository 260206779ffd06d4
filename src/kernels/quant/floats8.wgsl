// Numbers are the bits of f8e4m3.
fn quants8(stored: Quanta) -> array<vec4<f32>, 2> {
  let numbers = numbers8(stored);
  return array(e4m3(numbers[0]), e4m3(numbers[1]));
}
