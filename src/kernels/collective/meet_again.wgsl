// No rank goes on before all have read: the next kernel may write what this one has read.
fn leave(group: u32, lane: u32) {
  meet(group, lane);
}
