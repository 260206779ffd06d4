// Experts in the order of their logits, which is that of their scores.
fn prepare(row: u32, lane: u32, largest: f32, total: f32) {
}

fn value_of(row: u32, expert: u32) -> f32 {
  return logits[row + expert];
}

