// s and o of eight weights, w = d s q - m o. Every 256 weights have four words: d and m, then eight
// pairs s, o of 6 bits, their upper bits where ggml's get_scale_min_k4 finds them.
fn affine(i: u32) -> vec2<f32> {
  let block = SCALES + i / 32u * 4u;
  let group = i / 4u % 8u;
  let shift = 8u * (group % 4u);
  let a = weight_words[block + 1u] >> shift;
  let b = weight_words[block + 2u] >> shift;
  let c = weight_words[block + 3u] >> shift;
  let pair = select(vec2((c & 15u) | ((a >> 2u) & 48u), ((c >> 4u) & 15u) | ((b >> 2u) & 48u)),
                    vec2(a & 63u, b & 63u), group < 4u);
  return unpack2x16float(weight_words[block]) * vec2<f32>(pair) * vec2(1.0, -1.0);
}
