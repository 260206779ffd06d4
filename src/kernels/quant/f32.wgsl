// Codec f32. weight_words is the weight buffer; the i-th eight are its elements 8 i .. 8 i + 7.
alias WeightWord = vec4<u32>;
alias Stored8 = array<vec4<f32>, 2>;

fn load8(i: u32) -> Stored8 {
  return array(bitcast<vec4<f32>>(weight_words[2u * i]), bitcast<vec4<f32>>(weight_words[2u * i + 1u]));
}

fn decode8(eight: Stored8) -> array<vec4<f32>, 2> {
  return eight;
}

