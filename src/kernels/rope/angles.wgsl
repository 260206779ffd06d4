// The table has a row for each position.
fn angles_of(row: u32) -> u32 {
  let slot = slot_of_row(row);
  let is_long = batch.slot[slot].length > SHORT_ROWS;
  return position_of(row) + batch.slot[slot].rotary_shift + select(0u, SHORT_ROWS, is_long);
}
