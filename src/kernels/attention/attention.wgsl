// One query head of one token per workgroup. Keys come in blocks of THREADS: each lane scores one
// key, then each lane sums its own elements of the values. Contract: attention.h.
@group(0) @binding(INPUT_0) var<storage, read> q: array<vec2<f32>>;

const PAIRS = HEAD_DIM / 2u;
const OWN_PAIRS = (PAIRS + THREADS - 1u) / THREADS;
const LOWEST = -3.0e38;

var<workgroup> query: array<vec2<f32>, PAIRS>;
var<workgroup> weights: array<f32, THREADS>;
var<workgroup> values: array<CachedHead, THREADS>;

fn run(group: vec3<u32>, lane: u32) {
  let head = group.x;
  let kv_head = head / (HEADS / KV_HEADS);
  let start = (group.y * HEADS + head) * PAIRS;
  let slot = slot_of_row(group.y);
  let end = seen_until(slot, position_of(group.y));
  let first = seen_from(slot, position_of(group.y));
  for (var i = lane; i < PAIRS; i += THREADS) {
    query[i] = q[start + i];
  }
  workgroupBarrier();

  var sums: array<vec2<f32>, OWN_PAIRS>;
  var largest = first_base(head);
  var total = FIRST_TOTAL;
  for (var block = first; block < end; block += THREADS) {
    let position = block + lane;
    var score = LOWEST;
    if (position < end) {
      let cell = cell_of(slot, position);
      let key = cached_head(cell, 0u, kv_head);
      values[lane] = cached_head(cell, 1u, kv_head);
      var product = vec2<f32>();
      for (var i = 0u; i < PAIRS; i++) {
        product += query[i] * cached_pair(key, i);
      }
      score = cap_score((product.x + product.y) * SCALE);
      score += bias_of(head, position_of(group.y), position);
    }
    let now_largest = max(largest, reduce_max(score, lane));
    let weight = select(0.0, exp(score - now_largest), position < end);
    weights[lane] = weight;
    let shrink = exp(largest - now_largest);
    total = total * shrink + reduce_sum(weight, lane);
    largest = now_largest;
    let count = min(THREADS, end - block);
    for (var own = 0u; own < OWN_PAIRS; own++) {
      let i = lane + own * THREADS;
      if (i < PAIRS) {
        var sum = sums[own] * shrink;
        for (var j = 0u; j < count; j++) {
          sum += weights[j] * cached_pair(values[j], i);
        }
        sums[own] = sum;
      }
    }
    workgroupBarrier();
  }
  for (var own = 0u; own < OWN_PAIRS; own++) {
    let i = lane + own * THREADS;
    if (i < PAIRS) {
      store_pair(start + i, sums[own] / total);
    }
  }
}

