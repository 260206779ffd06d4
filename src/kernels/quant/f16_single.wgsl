// Codec f16, element by element.
alias WeightWord = u32;

fn weight1(i: u32) -> f32 {
  return unpack2x16float(weight_words[i / 2u])[i % 2u];
}

