// One workgroup, a lane for each listed token. Contract: draw_token.h
@group(0) @binding(INPUT_0) var<storage, read> list: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> lists: array<f32>;

var<workgroup> sums: array<f32, THREADS>;
var<workgroup> first: atomic<u32>;

// Of this lane and all before it. Behind it sums[THREADS - 1] is that of all.
fn sum_up_to(lane: u32, own: f32) -> f32 {
  workgroupBarrier();
  sums[lane] = own;
  for (var reach = 1u; reach < THREADS; reach *= 2u) {
    workgroupBarrier();
    let before = select(0.0, sums[max(lane, reach) - reach], lane >= reach);
    workgroupBarrier();
    sums[lane] += before;
  }
  workgroupBarrier();
  return sums[lane];
}

fn run(group: vec3<u32>, lane: u32) {
  let top_k = next_frame.frame.top_k;
  let top_p = next_frame.frame.top_p;
  let min_p = next_frame.frame.min_p;
  let row = next_frame.frame.chosen % LISTS * (2u * LISTED + 2u);
  let state = next_state(vec2(next_frame.frame.random_low, next_frame.frame.random_high));
  let drawn = f32(random_of(state).y >> 8u) * 0x1p-24;

  let own = min(lane, LISTED - 1u);
  let logit = list[2u * own];
  let last = list[2u * min(max(top_k, 1u), LISTED) - 2u];
  let is_among_first = top_k == 0u || lane < top_k || logit == last;
  let is_listed = lane < LISTED && list[2u * own + 1u] >= 0.0;
  let largest = select(0.0, exp((logit - list[0]) * next_frame.frame.inverse_temperature),
                       is_listed && is_among_first);
  let before = sum_up_to(lane, largest) - largest;
  let mass = select(list[2u * LISTED], sums[THREADS - 1u], top_k != 0u);
  let is_beyond = top_p < 1.0 && before >= top_p * mass;
  let weight = select(largest, 0.0, is_beyond || largest < min_p);
  let share = sum_up_to(lane, weight);
  let is_limited = top_k != 0u || top_p < 1.0 || min_p > 0.0;
  let kept = select(list[2u * LISTED], sums[THREADS - 1u], is_limited);

  if (lane == 0u) {
    atomicStore(&first, THREADS);
  }
  workgroupBarrier();
  if (weight > 0.0 && drawn * kept < share) {
    atomicMin(&first, lane);
  }
  for (var i = lane; i < 2u * LISTED + 1u; i += THREADS) {
    lists[row + i] = list[i];
  }
  storageBarrier();  // all lanes have read the frame
  workgroupBarrier();
  if (lane == 0u) {
    let place = atomicLoad(&first);
    let is_found = place < LISTED;
    let token = select(-1.0, list[2u * min(place, LISTED - 1u) + 1u], is_found);
    lists[row + 2u * LISTED + 1u] = token;
    next_frame.frame.random_low = state.x;
    next_frame.frame.random_high = state.y;
    to_next_step(select(0u, u32(token), is_found));
  }
}
