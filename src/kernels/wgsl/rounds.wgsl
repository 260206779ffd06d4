// How often a loop runs, for compilers that know best which loops to unroll.
fn rounds(count: u32) -> u32 {
  return count;
}
