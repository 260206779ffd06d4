// The places of what others put into a rank's memory: for each rank and workgroup twice MAX_SLOTS
// slots of four words. Those of two turns have places of their own: a rank that begins the next turn
// has found this turn's values, but others may not have yet.
fn inbox(rank: u32, turn: u32, group: u32, slot: u32) -> u32 {
  return INBOX + (((rank * 2u + turn % 2u) * MAX_PUT_GROUPS + group) * 2u * MAX_SLOTS + slot) * 4u;
}

// The rank, and the number of the group's turn.
fn begin(group: u32, lane: u32) -> vec2<u32> {
  return vec2<u32>(atomicLoad(&meeting[0]), atomicLoad(&meeting[1u + group]) + 1u);
}
fn end(turn: vec2<u32>, group: u32, lane: u32) {
  workgroupBarrier();
  if (lane == 0u) {
    atomicStore(&meeting[1u + group], turn.y);
  }
}
