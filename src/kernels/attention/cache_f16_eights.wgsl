// A cache word holds eight neighbouring f16 elements.
const WORD = 8u;
alias CacheWord = vec4<u32>;

fn store_word(strip: u32, at: u32, word: CacheWord) {
  strips[strip][at] = bitcast<vec4<f16>>(word.xy);
  strips[strip][at + 1u] = bitcast<vec4<f16>>(word.zw);
}
