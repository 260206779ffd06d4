// Norms HEAD columns by themselves; the lanes that have them add up their squares.
@group(0) @binding(INPUT_2) var<storage, read> norm: array<vec4<f32>>;

fn normed(row: u32, four: u32) -> vec4<f32> {
  let own = up_four(row, four);
  var squares = dot(own, own);
  for (var lanes = 1u; lanes < HEAD / 4u; lanes *= 2u) {
    squares += subgroupShuffleXor(squares, lanes);
  }
  return own * inverseSqrt(squares / f32(HEAD) + EPS) * norm[four % (HEAD / 4u)];
}
