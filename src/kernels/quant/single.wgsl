// Weight i by itself, of 32 or 16 bits; f16 where F16 is 1. For rows that are no multiple of 8.
alias WeightWord = u32;

fn weight1(i: u32) -> f32 {
  if (WEIGHT_BITS == 32u) {
    return bitcast<f32>(weight_words[i]);
  }
  let word = weight_words[i / 2u];
  if (F16 == 1u) {
    return unpack2x16float(word)[i % 2u];
  }
  return bitcast<f32>((word >> (16u * (i % 2u))) << 16u);
}

