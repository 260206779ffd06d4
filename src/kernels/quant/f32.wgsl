// Codec f32. weight_words is the weight buffer; weights8 gives elements 8 i .. 8 i + 7.
alias WeightWord = vec4<u32>;

fn weights8(i: u32) -> array<vec4<f32>, 2> {
  return array(bitcast<vec4<f32>>(weight_words[2u * i]), bitcast<vec4<f32>>(weight_words[2u * i + 1u]));
}

