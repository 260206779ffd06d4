// Units of unit_words.wgsl by dot products of bytes; see linear/staging/bytes.wgsl.
// The q count from -QUANTA_OFFSET on:
//   sum w x = s (sum q x) + (o + QUANTA_OFFSET s) sum x
fn unit_product(unit: Unit) -> f32 {
  var sums_of = vec2<i32>();  // with the upper bytes of x, and with the lower ones
  for (var j = 0u; j < 4u; j++) {  // unroll
    sums_of += word_sums(unit.words[j], j);
  }
  return unit.scale.x * (own_step.x * f32(256 * sums_of.x + sums_of.y)) +
         (unit.scale.y + QUANTA_OFFSET * unit.scale.x) * own_step.y;
}
