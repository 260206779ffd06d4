// Codec f16 on devices with the f16 feature: loaded as such, widened at once.
struct WeightWord {
  low: vec4<f16>,
  high: vec4<f16>,
}

fn weights8(i: u32) -> array<vec4<f32>, 2> {
  return decode8(weight_words[i]);
}

fn decode8(word: WeightWord) -> array<vec4<f32>, 2> {
  return array(vec4<f32>(word.low), vec4<f32>(word.high));
}

