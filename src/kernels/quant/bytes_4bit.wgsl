// Words of eight quanta, for units_bytes.wgsl: those at even places are one word of bytes, those at
// odd places another.
const QUANTA_OFFSET = 0.0;

fn fours_of(a: vec4<i32>, b: vec4<i32>) -> array<vec4<i32>, 2> {
  return array(vec4(a.xz, b.xz), vec4(a.yw, b.yw));
}

fn word_sums(word: u32, j: u32) -> vec2<i32> {
  let even = word & 0x0f0f0f0fu;
  let odd = (word >> 4u) & 0x0f0f0f0fu;
  return vec2(dot4I8Packed(even, own[j].x) + dot4I8Packed(odd, own[j].y),
              dot4I8Packed(even, own[j].z) + dot4I8Packed(odd, own[j].w));
}
