// Eight q of 5 bits: a word of the low stream, a byte of the high one.
alias WeightWord = u32;

fn quants8(i: u32) -> array<vec4<f32>, 2> {
  let low = weight_words[i];
  let high = weight_words[HIGH + i / 4u] >> (8u * (i % 4u));
  let shifts = vec4(0u, 4u, 8u, 12u);
  let tops = vec4(0u, 1u, 2u, 3u);
  return array(vec4<f32>(((vec4(low) >> shifts) & vec4(15u)) |
                         (((vec4(high) >> tops) & vec4(1u)) << vec4(4u))),
               vec4<f32>(((vec4(low >> 16u) >> shifts) & vec4(15u)) |
                         (((vec4(high >> 4u) >> tops) & vec4(1u)) << vec4(4u))));
}

