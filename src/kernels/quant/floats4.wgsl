// Eight f4e2m1: a sign, two bits of exponent, one of mantissa. As those of an f16 they are 2^-14 of the
// number, subnormal ones too; two of them, four apart, become a word of f16.
const FOUR_BITS = 16384.0;

fn two_halves(sizes: u32, signs: u32) -> vec2<f32> {
  return FOUR_BITS * unpack2x16float((sizes & 0x0e000e00u) | (signs & 0x80008000u));
}

fn quants8(word: Quanta) -> array<vec4<f32>, 2> {
  let a = two_halves(word << 9u, word << 12u);
  let b = two_halves(word << 5u, word << 8u);
  let c = two_halves(word << 1u, word << 4u);
  let d = two_halves(word >> 3u, word);
  return array(vec4(a.x, b.x, c.x, d.x), vec4(a.y, b.y, c.y, d.y));
}
