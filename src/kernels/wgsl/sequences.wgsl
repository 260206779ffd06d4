// The same as one_sequence.wgsl, for rows of several sequences.
fn slot_of_row(row: u32) -> u32 {
  return batch.row_slots[row / 4u][row % 4u];
}
fn position_of(row: u32) -> u32 {
  let slot = slot_of_row(row);
  return batch.slot[slot].position + row - batch.slot[slot].start;
}
fn row_of_output(output: u32) -> u32 {
  return batch.output_rows[output / 4u][output % 4u];
}

struct Tile {
  slot: u32,
  first: u32,
  end: u32,
}
// No tile has rows of two sequences, so that there are up to batch.slots - 1 more of them than the
// rows would fill.
fn tile_of(index: u32, size: u32) -> Tile {
  var left = index;
  for (var slot = 0u; slot < batch.slots; slot++) {
    let count = batch.slot[slot].count;
    let tiles = (count + size - 1u) / size;
    if (left < tiles) {
      let first = batch.slot[slot].start + left * size;
      return Tile(slot, first, min(first + size, batch.slot[slot].start + count));
    }
    left -= tiles;
  }
  return Tile(0u, 0u, 0u);
}
