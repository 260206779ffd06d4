// One product of a row of x and a row of weights per lane: for devices without a library, where
// nothing asks for speed.
@group(0) @binding(INPUT_0) var<storage, read> x: array<u32>;
@group(0) @binding(INPUT_1) var<storage, read> w: array<u32>;

fn value(row: u32, column: u32) -> f32 {
  var sums = vec2(start(FIRST_ROW + column), 0.0);
  for (var i = 0u; i < PAIRS; i++) {
    sums += both(x[row * PAIRS + i]) * both(w[(FIRST_ROW + column) * PAIRS + i]);
  }
  return sums.x + sums.y;
}
