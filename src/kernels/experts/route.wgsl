// One token per workgroup. An expert's place is the number of experts that come before it.
// Contract and reference: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> logits: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> shares: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> chosen: array<u32>;

fn run(group: vec3<u32>, lane: u32) {
  let row = group.x * EXPERTS;
  var largest = -3.0e38;
  for (var e = lane; e < EXPERTS; e += THREADS) {
    largest = max(largest, logits[row + e]);
  }
  largest = reduce_max(largest, lane);
  var weight = 0.0;
  var chosen_weight = 0.0;
  for (var e = lane; e < EXPERTS; e += THREADS) {
    let own = exp(FACTOR * (logits[row + e] - largest));
    weight += own;
    if (NORMALIZE == 0u || place_of(row, e) < TOP_K) {
      chosen_weight += own;
    }
  }
  let total = reduce_sum(weight, lane);
  let whole = reduce_sum(chosen_weight, lane) / total;
  for (var e = lane; e < EXPERTS; e += THREADS) {
    let place = place_of(row, e);
    if (place < TOP_K) {
      chosen[group.x * TOP_K + place] = e;
      shares[group.x * TOP_K + place] =
          exp(FACTOR * (logits[row + e] - largest)) / total / whole * expert_scale(e);
    }
  }
}

fn place_of(row: u32, expert: u32) -> u32 {
  let own = order_key(logits[row + expert]);
  var place = 0u;
  for (var e = 0u; e < EXPERTS; e++) {
    let key = order_key(logits[row + e]);
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

