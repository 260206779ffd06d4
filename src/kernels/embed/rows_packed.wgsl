// Tokens beyond the vocabulary are rows of another table. A lane writes two vectors of eight columns.
@group(0) @binding(INPUT_2) var<storage, read> others: array<vec4<f32>>;

fn write_other(row: u32, i: u32) {
  let token = tokens[row];
  if (token >= VOCAB && i < EIGHTS) {
    let other = (token - VOCAB) % OTHER_ROWS;
    let source = 2u * (other * EIGHTS + i);
    let to = 2u * (row * EIGHTS + i);
    y[to] = others[source];
    y[to + 1u] = others[source + 1u];
  }
}
