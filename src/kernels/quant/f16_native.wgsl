// Codec f16 on devices with the f16 feature: loaded as such, widened at once.
struct WeightWord {
  low: vec4<f16>,
  high: vec4<f16>,
}
alias Stored8 = WeightWord;

fn load8(i: u32) -> Stored8 {
  return weight_words[i];
}

fn decode8(word: Stored8) -> array<vec4<f32>, 2> {
  return array(vec4<f32>(word.low), vec4<f32>(word.high));
}

