// A workgroup for each row, a lane for each listed token. Contract: sample_token.h
@group(0) @binding(INPUT_0) var<storage, read> list: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> lists: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> occurred: array<u32>;

var<workgroup> penalized: array<f32, THREADS>;     // in the order of the list
var<workgroup> tokens: array<vec2<f32>, THREADS>;  // a logit and its id, best first
var<workgroup> sums: array<f32, THREADS>;
var<workgroup> first: atomic<u32>;

// The sum of this lane and all before it. Afterwards sums[THREADS - 1] is that of all.
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

fn logit_with(words: u32, penalty: f32, logit: f32, id: f32) -> f32 {
  if (penalty == 1.0 || id < 0.0) {
    return logit;
  }
  let bit = (occurred[words + u32(id) / 32u] >> (u32(id) % 32u)) & 1u;
  if (bit == 0u) {
    return logit;
  }
  return select(logit / penalty, logit * penalty, logit < 0.0);
}

// How many come before that of this lane: those with more, and equals that are listed before it.
fn rank_of(lane: u32) -> u32 {
  let own = penalized[lane];
  var rank = 0u;
  for (var i = 0u; i < LISTED; i++) {
    rank += select(0u, 1u, penalized[i] > own || (penalized[i] == own && i < lane));
  }
  return rank;
}

fn run(group: vec3<u32>, lane: u32) {
  let top_k = batch.slot[group.x].top_k;
  let top_p = batch.slot[group.x].top_p;
  let min_p = batch.slot[group.x].min_p;
  let penalty = batch.slot[group.x].repetition_penalty;
  let row = (batch.slot[group.x].chosen % LISTS * MAX_ROWS + group.x) * (2u * LISTED + 2u);
  let first_listed = group.x * (2u * LISTED + 1u);
  let words = batch.slot[group.x].index * WORDS;
  let state = next_state(vec2(batch.slot[group.x].random_low, batch.slot[group.x].random_high));
  let drawn = f32(random_of(state).y >> 8u) * 0x1p-24;

  let is_lane = lane < LISTED;
  let place = min(lane, LISTED - 1u);
  let id = list[first_listed + 2u * place + 1u];
  let listed = logit_with(words, penalty, list[first_listed + 2u * place], id);
  penalized[lane] = listed;
  workgroupBarrier();
  if (is_lane) {
    var rank = lane;
    if (penalty != 1.0) {
      rank = rank_of(lane);
    }
    tokens[rank] = vec2(listed, id);
  }
  workgroupBarrier();

  let own = tokens[place];
  let last = tokens[min(max(top_k, 1u), LISTED) - 1u].x;
  let is_among_first = top_k == 0u || lane < top_k || own.x == last;
  let is_listed = is_lane && own.y >= 0.0;
  let largest = select(0.0, exp((own.x - tokens[0].x) * batch.slot[group.x].inverse_temperature),
                       is_listed && is_among_first);
  let before = sum_up_to(lane, largest) - largest;
  let mass = select(list[first_listed + 2u * LISTED], sums[THREADS - 1u], top_k != 0u);
  let is_beyond = top_p < 1.0 && before >= top_p * mass;
  let weight = select(largest, 0.0, is_beyond || largest < min_p);
  let share = sum_up_to(lane, weight);
  let is_limited = top_k != 0u || top_p < 1.0 || min_p > 0.0;
  let kept = select(list[first_listed + 2u * LISTED], sums[THREADS - 1u], is_limited);

  if (lane == 0u) {
    atomicStore(&first, THREADS);
  }
  workgroupBarrier();
  if (weight > 0.0 && drawn * kept < share) {
    atomicMin(&first, lane);
  }
  for (var i = lane; i < 2u * LISTED + 1u; i += THREADS) {
    lists[row + i] = list[first_listed + i];
  }
  storageBarrier();  // all lanes have read the batch, and what has occurred
  workgroupBarrier();
  if (lane == 0u) {
    let found = atomicLoad(&first);
    let is_found = found < LISTED;
    let token = select(-1.0, tokens[min(found, LISTED - 1u)].y, is_found);
    let chosen = select(0u, u32(token), is_found);
    if (is_found && penalty != 1.0) {
      occurred[words + chosen / 32u] |= 1u << (chosen % 32u);
    }
    lists[row + 2u * LISTED + 1u] = token;
    batch.slot[group.x].random_low = state.x;
    batch.slot[group.x].random_high = state.y;
    to_next_step(group.x, chosen);
  }
}
