// Words of eight quanta, for units_wide.wgsl.
fn word_product(word: u32, at: u32) -> f32 {
  let even = bytes(word & 0x0f0f0f0fu);
  let odd = bytes((word >> 4u) & 0x0f0f0f0fu);
  return dot(vec4(even.x, odd.x, even.y, odd.y), own[at]) +
         dot(vec4(even.z, odd.z, even.w, odd.w), own[at + 1u]);
}
