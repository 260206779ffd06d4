fn weights8(i: u32) -> array<vec4<f32>, 2> {
  return decode8(load8(i));
}
