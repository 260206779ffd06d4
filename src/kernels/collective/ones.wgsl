alias Part = f32;

fn square_of(part: Part) -> f32 {
  return part * part;
}
