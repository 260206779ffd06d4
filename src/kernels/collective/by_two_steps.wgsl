// Each rank adds up a slice of what all have and puts the sums into every rank's memory, in place of
// what they have been made of; after another meeting each reads its own memory. With N ranks 2 / N
// of what by_meeting.wgsl moves crosses the links.
//
// A workgroup's elements are whole chunks of CHUNK, and groups of the same number meet: so each
// rank's slice is one of every chunk.
fn begin(group: u32, lane: u32) -> vec2<u32> {
  meet(group, lane);
  let own = atomicLoad(&meeting[0]);
  if (own >= RANKS) {
    return vec2<u32>(own, 0u);
  }
  let count = select(step_rows(), 1u, ONE_ROW == 1u) * COLUMNS;
  for (var chunk = group * CHUNK; chunk < count; chunk += GROUPS * CHUNK) {
    let chunk_end = min(chunk + CHUNK, count);
    let slice = (chunk_end - chunk + RANKS - 1u) / RANKS;
    let end = min(chunk + (own + 1u) * slice, chunk_end);
    for (var i = chunk + own * slice + lane; i < end; i += THREADS * IN_FLIGHT) {
      var sums: array<Part, IN_FLIGHT>;
      for (var rank = 0u; rank < RANKS; rank++) {
        for (var next = 0u; next < IN_FLIGHT; next++) {  // unroll
          sums[next] += sum_of(rank, min(i + next * THREADS, end - 1u));
        }
      }
      for (var rank = 0u; rank < RANKS; rank++) {
        for (var next = 0u; next < IN_FLIGHT; next++) {  // unroll
          if (i + next * THREADS < end) {
            part_of[rank][place_of(i + next * THREADS)] = sums[next];
          }
        }
      }
    }
  }
  meet(group, lane);
  return vec2<u32>(own, 0u);
}
fn give(turn: vec2<u32>, group: u32, slot: u32, i: u32) -> Part {
  return Part();
}
fn part_from(rank: u32, turn: vec2<u32>, group: u32, slot: u32, i: u32, own: Part) -> Part {
  if (turn.x >= RANKS) {
    return sum_of(rank, i);
  }
  if (rank != turn.x) {
    return Part();
  }
  return part_of[rank][place_of(i)];
}
fn end(turn: vec2<u32>, group: u32, lane: u32) {
}
