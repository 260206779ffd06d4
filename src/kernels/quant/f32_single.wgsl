// Codec f32, element by element: for rows that are no multiple of 8.
alias WeightWord = u32;

fn weight1(i: u32) -> f32 {
  return bitcast<f32>(weight_words[i]);
}

