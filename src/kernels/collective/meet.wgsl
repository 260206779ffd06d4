// The meeting of ranks, which are devices that run one model together: group g of every rank waits
// for group g of all others. What kernels before this one wrote on any rank can be read after it.
fn arrival(rank: u32, group: u32) -> u32 {
  return 1u + (1u + rank) * MAX_GROUPS + group;
}

// For all lanes of the workgroup.
fn meet(group: u32, lane: u32) {
  workgroupBarrier();
  let own = atomicLoad(&meeting[0]);
  if (own >= RANKS) {
    return;
  }
  let turn = atomicLoad(&meeting[1u + group]) + 1u;
  if (lane < RANKS) {
    signalRank(&meeting_of[lane][arrival(own, group)], turn);
  }
  workgroupBarrier();
  if (lane < RANKS) {
    awaitRank(&meeting[arrival(lane, group)], turn);
  }
  if (lane == 0u) {
    atomicStore(&meeting[1u + group], turn);
  }
  workgroupBarrier();
}
