// One token per workgroup. An expert's place is the number of experts that come before it.
// Contract and reference: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> logits: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> shares: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> chosen: array<u32>;
var<workgroup> keys: array<u32, EXPERTS>;

fn run(group: vec3<u32>, lane: u32) {
  let row = group.x * EXPERTS;
  var largest = 0.0;
  var total = 1.0;
  if (SOFTMAX == 1u) {
    largest = -3.0e38;
    for (var e = lane; e < EXPERTS; e += THREADS) {
      largest = max(largest, logits[row + e]);
    }
    largest = reduce_max(largest, lane);
    var weight = 0.0;
    for (var e = lane; e < EXPERTS; e += THREADS) {
      weight += exp(FACTOR * (logits[row + e] - largest));
    }
    total = reduce_sum(weight, lane);
  }
  prepare(row, lane, largest, total);
  for (var e = lane; e < EXPERTS; e += THREADS) {
    keys[e] = order_key(value_of(row, e));
  }
  workgroupBarrier();
  var places: array<u32, EACH>;
  var chosen_score = 0.0;
  for (var i = 0u; i < EACH; i++) {  // unroll
    let e = i * THREADS + lane;  // after the last expert it has no place among the chosen
    places[i] = place_of(min(e, EXPERTS - 1u)) + select(0u, TOP_K, e >= EXPERTS);
    if (places[i] < TOP_K) {
      chosen_score += score_of(logits[row + e], largest, total);
    }
  }
  var whole = 1.0;
  if (NORMALIZE == 1u) {
    whole = reduce_sum(chosen_score, lane) + EPS;
  }
  for (var i = 0u; i < EACH; i++) {  // unroll
    if (places[i] < TOP_K) {
      let e = i * THREADS + lane;
      let at = group.x * TOP_K + places[i];
      chosen[at] = e;
      shares[at] = score_of(logits[row + e], largest, total) / whole * SCALED * expert_scale(e);
    }
  }
}

fn score_of(logit: f32, largest: f32, total: f32) -> f32 {
  if (SOFTMAX == 1u) {
    return exp(FACTOR * (logit - largest)) / total;
  }
  return 1.0 / (1.0 + exp(-FACTOR * logit));
}

fn place_of(expert: u32) -> u32 {
  let own = keys[expert];
  var place = 0u;
  for (var e = 0u; e < EXPERTS; e++) {
    place += u32(select(keys[e] > own, keys[e] >= own, e < expert));
  }
  return place;
}

// Larger numbers have larger keys, both zeros the same, NaN the largest.
fn order_key(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  let size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) {
    return 0xffffffffu;
  }
  return select(0x80000000u + size, 0x80000000u - size, bits != size);
}

