// Norms HEAD columns by themselves; a lane adds up the squares of all of them.
@group(0) @binding(INPUT_2) var<storage, read> norm: array<vec4<f32>>;

fn normed(row: u32, four: u32) -> vec4<f32> {
  let own = four % (HEAD / 4u);
  var squares = 0.0;
  for (var i = 0u; i < HEAD / 4u; i++) {
    let other = up_four(row, four - own + i);
    squares += dot(other, other);
  }
  return up_four(row, four) * inverseSqrt(squares / f32(HEAD) + EPS) * norm[own];
}
