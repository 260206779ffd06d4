@group(0) @binding(INPUT_0) var<storage, read> x: array<vec2<u32>>;

fn four_of(i: u32) -> vec4<f32> {
  let words = x[i];
  return vec4(unpack2x16float(words.x), unpack2x16float(words.y));
}
