// One query head of one token per workgroup. LANES neighbouring lanes share a key, so THREADS /
// LANES groups of lanes each keep a running softmax over every GROUPS-th key, AT_ONCE keys at a time
// so that their loads are in flight together, and are merged at the end: no barrier inside the loop.
// Contract: attention.h.
@group(0) @binding(INPUT_0) var<storage, read> q: array<vec2<f32>>;

const PAIRS = HEAD_DIM / 2u;
const OWN_PAIRS = PAIRS / LANES;
const GROUPS = THREADS / LANES;
const LOWEST = -3.0e38;

var<workgroup> other_sums: array<vec2<f32>, GROUPS / 2u * PAIRS>;
var<workgroup> other_largest: array<f32, GROUPS / 2u>;
var<workgroup> other_total: array<f32, GROUPS / 2u>;

fn sum_of_lanes(value: f32) -> f32 {
  var sum = value + subgroupShuffleXor(value, 1u);
  if (LANES >= 4u) {
    sum += subgroupShuffleXor(sum, 2u);
  }
  if (LANES == 8u) {
    sum += subgroupShuffleXor(sum, 4u);
  }
  return sum;
}

fn run(group: vec3<u32>, lane: u32) {
  let head = group.x;
  let kv_head = head / (HEADS / KV_HEADS);
  let part = lane % LANES;
  let own = lane / LANES;
  let start = (group.y * HEADS + head) * PAIRS + part;
  let slot = slot_of_row(group.y);
  let end = seen_until(slot, position_of(group.y));
  let first = seen_from(slot, position_of(group.y));
  var query: array<vec2<f32>, OWN_PAIRS>;
  var sums: array<vec2<f32>, OWN_PAIRS>;
  for (var i = 0u; i < OWN_PAIRS; i++) {
    query[i] = q[start + i * LANES] * SCALE;
    sums[i] = vec2(0.0);
  }
  // One of the groups has the sink, if any.
  var largest = select(LOWEST, first_base(head), own == 0u);
  var total = select(0.0, FIRST_TOTAL, own == 0u);
  for (var block = first; block < end; block += AT_ONCE * GROUPS) {
    var scores: array<f32, AT_ONCE>;
    var values: array<vec2<f32>, AT_ONCE * OWN_PAIRS>;
    var now_largest = largest;
    for (var k = 0u; k < AT_ONCE; k++) {  // unroll
      // Groups past the end read the last key and give it no weight: shuffles need every lane.
      let place = block + k * GROUPS + own;
      let position = min(place, end - 1u);
      let cell = cell_of(slot, position);
      let key = cached_head(cell, 0u, kv_head);
      let value = cached_head(cell, 1u, kv_head);
      var product = vec2(0.0);
      for (var i = 0u; i < OWN_PAIRS; i++) {
        product += query[i] * cached_pair(key, part + i * LANES);
        values[k * OWN_PAIRS + i] = cached_pair(value, part + i * LANES);
      }
      let score = cap_score(sum_of_lanes(product.x + product.y)) +
          bias_of(head, position_of(group.y), position);
      scores[k] = select(LOWEST, score, place < end);
      now_largest = max(now_largest, scores[k]);
    }
    let shrink = exp(largest - now_largest);
    total *= shrink;
    for (var i = 0u; i < OWN_PAIRS; i++) {
      sums[i] *= shrink;
    }
    for (var k = 0u; k < AT_ONCE; k++) {  // unroll
      // In this order a score that is no number stays in sight.
      let weight = select(exp(scores[k] - now_largest), 0.0, scores[k] <= LOWEST);
      total += weight;
      for (var i = 0u; i < OWN_PAIRS; i++) {
        sums[i] += weight * values[k * OWN_PAIRS + i];
      }
    }
    largest = now_largest;
  }
  for (var stride = GROUPS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (own >= stride && own < 2u * stride) {
      for (var i = 0u; i < OWN_PAIRS; i++) {
        other_sums[(own - stride) * PAIRS + part + i * LANES] = sums[i];
      }
      other_largest[own - stride] = largest;
      other_total[own - stride] = total;
    }
    workgroupBarrier();
    if (own < stride) {
      let now_largest = max(largest, other_largest[own]);
      let keep = exp(largest - now_largest);
      let take = exp(other_largest[own] - now_largest);
      total = total * keep + other_total[own] * take;
      for (var i = 0u; i < OWN_PAIRS; i++) {
        sums[i] = sums[i] * keep + take * other_sums[own * PAIRS + part + i * LANES];
      }
      largest = now_largest;
    }
  }
  if (own == 0u) {
    for (var i = 0u; i < OWN_PAIRS; i++) {
      store_pair(start + i * LANES, sums[i] / total);
    }
  }
}

