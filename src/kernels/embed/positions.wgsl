// Contract and reference: positions.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

fn value(row: u32, column: u32) -> f32 {
  let learned = weight1((OFFSET + position_of(row)) * COLUMNS + column);
  return x[row * COLUMNS + column] + learned;
}
