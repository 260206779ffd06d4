@group(0) @binding(INPUT_0) var<storage, read> x: array<vec2<u32>>;

fn four_of(i: u32) -> vec4<f32> {
  let words = x[i];
  return bitcast<vec4<f32>>(
      vec4(words.x << 16u, words.x & 0xffff0000u, words.y << 16u, words.y & 0xffff0000u));
}
