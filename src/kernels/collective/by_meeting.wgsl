// Ranks read each other's values, after they have met.
fn begin(group: u32, lane: u32) -> vec2<u32> {
  meet(group, lane);
  return vec2<u32>();
}
fn give(turn: vec2<u32>, group: u32, slot: u32, i: u32) -> Part {
  return Part();
}
fn part_from(rank: u32, turn: vec2<u32>, group: u32, slot: u32, i: u32, own: Part) -> Part {
  return sum_of(rank, i);
}
fn end(turn: vec2<u32>, group: u32, lane: u32) {
  leave(group, lane);
}
