// Eight q of 4 bits: a word of the low stream.
alias WeightWord = u32;

fn quants8(i: u32) -> array<vec4<f32>, 2> {
  let low = weight_words[i];
  let shifts = vec4(0u, 4u, 8u, 12u);
  return array(vec4<f32>((vec4(low) >> shifts) & vec4(15u)),
               vec4<f32>((vec4(low >> 16u) >> shifts) & vec4(15u)));
}

