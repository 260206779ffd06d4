// s and o of eight weights, w = d s q - m o. Every 256 weights have five words: d and m, then a byte
// for each 16, s in its low half.
fn affine(i: u32) -> vec2<f32> {
  let block = SCALES + i / 32u * 5u;
  let group = i / 2u % 16u;
  let byte = weight_words[block + 1u + group / 4u] >> (8u * (group % 4u));
  return unpack2x16float(weight_words[block]) * vec2<f32>(vec2(byte, byte >> 4u) & vec2(15u)) *
         vec2(1.0, -1.0);
}
