// All tokens are in the vocabulary.
fn write_other(row: u32, i: u32) {}
