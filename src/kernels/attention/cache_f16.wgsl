// A cache word holds two neighbouring f16 elements; core WGSL, no f16 feature needed.
alias CacheWord = u32;

fn unpack_cache(word: CacheWord) -> vec2<f32> {
  return unpack2x16float(word);
}
fn pack_cache(pair: vec2<f32>) -> CacheWord {
  return pack2x16float(clamp(pair, vec2(-65504.0), vec2(65504.0)));
}

