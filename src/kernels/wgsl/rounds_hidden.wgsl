// How often a loop runs, hidden from compilers that would unroll it whatever that costs: on a
// processor's cores machine code of that length takes longer to make than it saves.
fn rounds(count: u32) -> u32 {
  return select(count, 0u, batch.rows == 0u);
}
