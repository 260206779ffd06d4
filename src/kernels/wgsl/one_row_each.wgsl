// The same as one_sequence.wgsl, where each slot has one row, of the same number.
fn slot_of_row(row: u32) -> u32 {
  return row;
}
fn position_of(row: u32) -> u32 {
  return batch.slot[row].position;
}
fn row_of_output(output: u32) -> u32 {
  return output;
}

struct Tile {
  slot: u32,
  first: u32,
  end: u32,
}
fn tile_of(index: u32, size: u32) -> Tile {
  return Tile(index, index, min(index + 1u, batch.rows));
}
