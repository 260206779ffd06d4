// All rows of the step are of one sequence.
fn slot_of_row(row: u32) -> u32 {
  return 0u;
}
fn position_of(row: u32) -> u32 {
  return batch.slot[0].position + row;
}
fn row_of_output(output: u32) -> u32 {
  return batch.rows - 1u;
}

// Up to `size` neighbouring rows of one sequence; none where first = end.
struct Tile {
  slot: u32,
  first: u32,
  end: u32,
}
fn tile_of(index: u32, size: u32) -> Tile {
  return Tile(0u, index * size, min((index + 1u) * size, batch.rows));
}
