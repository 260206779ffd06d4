// The same as positions.wgsl, but windows begin at multiples of their size.
fn seen_from(slot: u32, position: u32) -> u32 {
  return position / WINDOW * WINDOW;
}
