// A logit as bits; where the slot has a mask, those of no number for a token that it leaves out.
const NO_NUMBER = 0x7fc00000u;

fn logit_at(row: u32, column: u32) -> u32 {
  let slot = slot_of_row(row);
  if (batch.slot[slot].masked != 0u) {
    let word = allowed[batch.slot[slot].index * WORDS + column / 32u];
    if (((word >> (column % 32u)) & 1u) == 0u) {
      return NO_NUMBER;
    }
  }
  return x[row * COLUMNS + column];
}
