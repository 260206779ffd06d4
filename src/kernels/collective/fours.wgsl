alias Part = vec4<f32>;

fn square_of(part: Part) -> f32 {
  return dot(part, part);
}
