// The keys of one split and their values, on their way to lanes of which LANES share a key.
// Weights count from a base that follows the largest score only where that leads by LEAD, which is
// seldom: sums need not shrink every iteration. What is unseen weighs nothing beside the first base.
const LEAD = 16.0;
const LOWEST = -1.0e38;
const UNSEEN = -3.0e38;

struct Split {
  begin: u32,
  until: u32,
  has_new: bool,  // the step's own key, which is not in the cache yet
}

fn split_of(index: u32, token: u32) -> Split {
  let end = position_of(token) + 1u;
  let first = seen_from(slot_of_row(token), position_of(token));
  let length = (end - first + SPLITS - 1u) / SPLITS;
  let begin = min(first + index * length, end);
  let until = min(begin + length, end);
  return Split(begin, until, APPENDS && begin < end && until == end);
}

const GROUPS = THREADS / LANES;

// Those that come next: KEYS of them, GROUPS apart, OWN units of each for a lane.
const ITERATION_KEYS = GROUPS * KEYS;
var<private> next_keys: array<CacheUnit, LOADS>;
var<private> next_values: array<CacheUnit, LOADS>;

fn load_next(slot: u32, first: u32, until: u32, kv_head: u32, part: u32) {
  for (var i = 0u; i < LOADS; i++) {  // unroll
    let position = min(first + i / OWN * GROUPS, until - 1u);
    let cell = cell_of(slot, position);
    next_keys[i] = load_unit(cell, 0u, kv_head, part + i % OWN * LANES);
    next_values[i] = load_unit(cell, 1u, kv_head, part + i % OWN * LANES);
  }
}

// Makes the workgroup's heads ready while its first keys are on their way: in this order, since where
// keys are stored waits for the page table.
fn begin_split(token: u32, split: Split, first_head: u32, kv_head: u32, lane: u32) {
  load_heads(token, first_head, kv_head, lane);
  load_next(slot_of_row(token), split.begin + lane / LANES, split.until, kv_head, lane % LANES);
  make_heads(token, first_head, kv_head, lane);
  workgroupBarrier();
}
