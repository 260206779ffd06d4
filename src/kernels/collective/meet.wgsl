// The meeting of ranks, which are devices that run one model together: group g of every rank waits
// for group g of all others. What kernels before this one wrote on any rank can be read after it.
//
// A rank's meeting is its number, then how often each group has met, then for each rank and group
// the last meeting that it has come to. A rank that is alone has a number beyond all ranks and
// waits for nobody.
@group(0) @binding(OWN_MEETING) var<storage, read_write> meeting: array<atomic<u32>>;
@group(0) @binding(MEETING_OF) var<storage, read_write> meeting_of: binding_array<array<atomic<u32>>, RANKS>;

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
