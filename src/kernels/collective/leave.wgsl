// No rank reads what the next kernel writes: that has a buffer of its own.
fn leave(group: u32, lane: u32) {
}
