// One token per workgroup. An expert's place is the number of experts that come before it.
// Contract and reference: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> logits: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> shares: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> chosen: array<u32>;

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
  var whole = 1.0;
  if (NORMALIZE == 1u) {
    var chosen_score = 0.0;
    for (var e = lane; e < EXPERTS; e += THREADS) {
      if (place_of(row, e) < TOP_K) {
        chosen_score += score_of(logits[row + e], largest, total);
      }
    }
    whole = reduce_sum(chosen_score, lane) + EPS;
  }
  for (var e = lane; e < EXPERTS; e += THREADS) {
    let place = place_of(row, e);
    if (place < TOP_K) {
      chosen[group.x * TOP_K + place] = e;
      shares[group.x * TOP_K + place] =
          score_of(logits[row + e], largest, total) / whole * SCALED * expert_scale(e);
    }
  }
}

fn score_of(logit: f32, largest: f32, total: f32) -> f32 {
  if (SOFTMAX == 1u) {
    return exp(FACTOR * (logit - largest)) / total;
  }
  return 1.0 / (1.0 + exp(-FACTOR * logit));
}

fn place_of(row: u32, expert: u32) -> u32 {
  let own = order_key(value_of(row, expert));
  var place = 0u;
  for (var e = 0u; e < EXPERTS; e++) {
    let key = order_key(value_of(row, e));
    place += u32(key > own || (key == own && e < expert));
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

