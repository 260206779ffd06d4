// Codec bf16: the upper half of an f32, so a shift is exact.
alias WeightWord = vec4<u32>;
alias Stored8 = WeightWord;

fn load8(i: u32) -> Stored8 {
  return weight_words[i];
}

fn decode8(bits: Stored8) -> array<vec4<f32>, 2> {
  let low = bitcast<vec4<f32>>(bits << vec4(16u));
  let high = bitcast<vec4<f32>>(bits & vec4(0xffff0000u));
  return array(vec4(low.x, high.x, low.y, high.y), vec4(low.z, high.z, low.w, high.w));
}

