// A cache word holds two neighbouring elements.
alias CacheWord = vec2<f32>;

fn unpack_cache(word: CacheWord) -> vec2<f32> {
  return word;
}
fn pack_cache(pair: vec2<f32>) -> CacheWord {
  return pair;
}

