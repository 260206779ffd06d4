// s and o of eight weights, w = d s (q - 32): a signed byte s for each 16 weights, an f16 d for
// each 256.
fn affine(i: u32) -> vec2<f32> {
  let group = i / 2u;
  let byte = weight_words[SCALES + group / 4u] << (24u - 8u * (group % 4u));
  let block = i / 32u;
  let d = unpack2x16float(weight_words[ZEROS + block / 2u])[block % 2u];
  let s = d * f32(bitcast<i32>(byte) >> 24u);
  return vec2(s, -32.0 * s);
}
