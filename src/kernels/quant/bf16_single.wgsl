// Codec bf16, element by element.
alias WeightWord = u32;

fn weight1(i: u32) -> f32 {
  return bitcast<f32>((weight_words[i / 2u] >> (16u * (i % 2u))) << 16u);
}

