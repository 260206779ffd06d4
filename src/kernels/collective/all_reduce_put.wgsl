// The sum of what every rank has, in the order of the ranks: all have the same bits. Each rank puts
// what it has into the others' memory, the number of the turn beside each two values: a lane that
// finds it there has the values, and no lane waits for more than its own. That takes twice the
// bytes, which for few rows is less than a wait for all and a load across.
@group(0) @binding(INPUT_0) var<storage, read> part: array<Part>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Part>;

// The place of a rank's values for that lane. Those of two turns have places of their own: a rank
// that begins the next turn has found this turn's values, but others may not have yet.
fn inbox(rank: u32, group: u32, turn: u32, lane: u32) -> u32 {
  return INBOX + (((rank * 2u + turn % 2u) * MAX_PUT_GROUPS + group) * 2u * THREADS + lane) * 4u;
}

fn run(group: vec3<u32>, lane: u32) {
  let own = atomicLoad(&meeting[0]);
  let turn = atomicLoad(&meeting[1u + group.x]) + 1u;
  let count = select(step_rows(), 1u, ONE_ROW == 1u) * COLUMNS;
  let i = group.x * THREADS + lane;
  if (i < count) {
    let first = i / COLUMNS * PARTS * COLUMNS + i % COLUMNS;
    var mine = part[first];
    for (var p = 1u; p < PARTS; p++) {
      mine += part[first + p * COLUMNS];
    }
    for (var rank = 0u; rank < RANKS; rank++) {
      if (own < RANKS && rank != own) {
        let to = inbox(own, group.x, turn, lane);
        putRank(&meeting_of[rank][to], mine.xy, turn);
        putRank(&meeting_of[rank][to + 4u * THREADS], mine.zw, turn);
      }
    }
    var sum = begin_sum(i);
    for (var rank = 0u; rank < RANKS; rank++) {
      if (own < RANKS && rank != own) {
        let at = inbox(rank, group.x, turn, lane);
        let low = takeRank(&meeting[at], turn);
        let high = takeRank(&meeting[at + 4u * THREADS], turn);
        sum += Part(low.x, low.y, high.x, high.y);
      } else {
        sum += mine;
      }
    }
    y[i] = sum;
  }
  workgroupBarrier();
  if (lane == 0u) {
    atomicStore(&meeting[1u + group.x], turn);
  }
}
