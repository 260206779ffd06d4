// Codec f16, unpacked with core WGSL: needs no f16 feature.
alias WeightWord = vec4<u32>;
alias Stored8 = WeightWord;

fn load8(i: u32) -> Stored8 {
  return weight_words[i];
}

fn decode8(bits: Stored8) -> array<vec4<f32>, 2> {
  return array(vec4(unpack2x16float(bits.x), unpack2x16float(bits.y)),
               vec4(unpack2x16float(bits.z), unpack2x16float(bits.w)));
}

