// One product of a row of x and a row of weights per lane: for devices without a library, where
// nothing asks for speed.
@group(0) @binding(INPUT_0) var<storage, read> x: array<u32>;
@group(0) @binding(INPUT_1) var<storage, read> w: array<u32>;

// The two bf16 of a word.
fn both(word: u32) -> vec2<f32> {
  return bitcast<vec2<f32>>(vec2(word << 16u, word & 0xffff0000u));
}

fn value(row: u32, column: u32) -> f32 {
  var sums = vec2(start(FIRST_ROW + column), 0.0);
  for (var i = 0u; i < PAIRS; i++) {
    sums += both(x[row * PAIRS + i]) * both(w[(FIRST_ROW + column) * PAIRS + i]);
  }
  return sums.x + sums.y;
}
