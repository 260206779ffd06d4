// Each rank puts its values into the others' memory, the number of the turn beside each two of
// them: a lane that finds it there has the values, and no lane waits for more than its own. That
// takes twice the bytes, which for few rows is less than a meeting and a load across.
fn give(turn: vec2<u32>, group: u32, slot: u32, i: u32) -> Part {
  let own = sum_of(min(turn.x, RANKS - 1u), i);
  let to = inbox(turn.x, turn.y, group, slot);
  for (var rank = 0u; rank < RANKS; rank++) {
    if (turn.x < RANKS && rank != turn.x) {
      putRank(&meeting_of[rank][to], own.xy, turn.y);
      putRank(&meeting_of[rank][to + 4u * MAX_SLOTS], own.zw, turn.y);
    }
  }
  return own;
}
fn part_from(rank: u32, turn: vec2<u32>, group: u32, slot: u32, i: u32, own: Part) -> Part {
  if (turn.x >= RANKS || rank == turn.x) {
    return own;
  }
  let at = inbox(rank, turn.y, group, slot);
  let low = takeRank(&meeting[at], turn.y);
  let high = takeRank(&meeting[at + 4u * MAX_SLOTS], turn.y);
  return Part(low.x, low.y, high.x, high.y);
}
