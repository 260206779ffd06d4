// A cache word holds four neighbouring f16 elements.
const WORD = 4u;
alias CacheWord = vec2<u32>;

fn store_word(strip: u32, at: u32, word: CacheWord) {
  strips[strip][at] = bitcast<vec4<f16>>(word);
}
