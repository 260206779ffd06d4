// Tokens beyond the vocabulary are rows of another table. A lane writes a column.
@group(0) @binding(INPUT_2) var<storage, read> others: array<f32>;

fn write_other(row: u32, i: u32) {
  let token = tokens[row];
  if (token >= VOCAB && i < COLUMNS) {
    let other = (token - VOCAB) % OTHER_ROWS;
    y[row * COLUMNS + i] = others[other * COLUMNS + i];
  }
}
