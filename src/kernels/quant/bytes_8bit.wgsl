// Words of four quanta, for units_bytes.wgsl. These count from -128 on, as bytes with a sign do.
const QUANTA_OFFSET = 128.0;

fn fours_of(a: vec4<i32>, b: vec4<i32>) -> array<vec4<i32>, 2> {
  return array(a, b);
}

fn word_sums(word: u32, j: u32) -> vec2<i32> {
  let quanta = word ^ FLIPPED_BITS ^ 0x80808080u;
  return vec2(dot4I8Packed(quanta, own[j / 2u][j % 2u]),
              dot4I8Packed(quanta, own[j / 2u][2u + j % 2u]));
}
