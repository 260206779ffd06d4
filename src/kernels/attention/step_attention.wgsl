// QUERIES heads that share a key head, and the keys of one split, per workgroup. It first makes its
// queries and the step's own key and value ready in workgroup memory; then LANES neighbouring lanes
// share a key, and every such group keeps running softmaxes over each GROUPS-th key, KEYS of them a
// turn, which are merged at the end. Contract: step_attention.h
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

// For each query, over the keys that this lane has seen: sums of its units of the values, the base of
// their weights, the total of these.
var<private> sums: array<array<vec4<f32>, 2>, HELD>;
var<private> base: array<f32, QUERIES>;
var<private> total: array<f32, QUERIES>;

fn run(group: vec3<u32>, lane: u32) {
  let first_head = group.x * QUERIES;
  let kv_head = first_head / (HEADS / KV_HEADS);
  let part = lane % LANES;
  let own_group = lane / LANES;
  let token = group.z;
  let slot = slot_of_row(token);
  let split = split_of(group.y, token);
  let begin = split.begin;
  let until = split.until;
  begin_split(token, split, first_head, kv_head, lane);
  var query: array<array<vec4<f32>, 2>, HELD>;
  for (var i = 0u; i < HELD; i++) {  // unroll
    query[i] = prepared_unit(i / OWN, part + i % OWN * LANES);
  }

  // The step's own position is not in the cache yet for the others; what they would find there they
  // have here.
  var new_key: array<CacheUnit, OWN>;
  var new_value: array<CacheUnit, OWN>;
  let has_new = split.has_new;
  if (has_new) {
    let key_step = step_of_head(KEY, part, lane);
    let value_step = step_of_head(VALUE, part, lane);
    for (var i = 0u; i < OWN; i++) {  // unroll
      new_key[i] = pack_unit(prepared_unit(KEY, part + i * LANES), key_step);
      new_value[i] = pack_unit(prepared_unit(VALUE, part + i * LANES), value_step);
      if (own_group == 0u && first_head % (HEADS / KV_HEADS) == 0u) {
        let cell = cell_of(slot, position_of(token));
        append(cell, 0u, kv_head, part + i * LANES, new_key[i]);
        append(cell, 1u, kv_head, part + i * LANES, new_value[i]);
      }
    }
  }

  for (var h = 0u; h < QUERIES; h++) {  // unroll
    base[h] = LOWEST;
    total[h] = 0.0;
  }
  for (var i = 0u; i < HELD; i++) {  // unroll
    sums[i] = array(vec4(0.0), vec4(0.0));
  }
  for (var block = begin; block < until; block += ITERATION_KEYS) {
    // Groups past the end read the last key and give it no weight: sums over lanes need them all.
    let first_key = block + own_group;
    var keys = next_keys;
    var values = next_values;
    if (block + ITERATION_KEYS < until) {
      load_next(slot, first_key + ITERATION_KEYS, until, kv_head, part);
    }
    if (has_new) {
      for (var i = 0u; i < LOADS; i++) {  // unroll
        if (first_key + i / OWN * GROUPS >= position_of(token)) {
          keys[i] = new_key[i % OWN];
          values[i] = new_value[i % OWN];
        }
      }
    }
    for (var h = 0u; h < QUERIES; h++) {  // unroll
      var scores: array<f32, KEYS>;
      var now_largest = base[h];
      for (var k = 0u; k < KEYS; k++) {  // unroll
        var product = vec4(0.0);
        for (var i = 0u; i < OWN; i++) {  // unroll
          let key = unpack_unit(keys[k * OWN + i]);
          product += query[h * OWN + i][0] * key[0] + query[h * OWN + i][1] * key[1];
        }
        let score = cap_score(sum_of_lanes(dot(product, vec4(1.0)), lane) * SCALE);
        scores[k] = select(UNSEEN, score, first_key + k * GROUPS < until);
        now_largest = max(now_largest, scores[k]);
      }
      if (now_largest > base[h] + LEAD) {
        let shrink = exp(base[h] - now_largest);
        total[h] *= shrink;
        for (var i = 0u; i < OWN; i++) {  // unroll
          sums[h * OWN + i][0] *= shrink;
          sums[h * OWN + i][1] *= shrink;
        }
        base[h] = now_largest;
      }
      for (var k = 0u; k < KEYS; k++) {  // unroll
        let weight = exp(scores[k] - base[h]);
        total[h] += weight;
        for (var i = 0u; i < OWN; i++) {  // unroll
          let value = unpack_unit(values[k * OWN + i]);
          sums[h * OWN + i][0] += weight * value[0];
          sums[h * OWN + i][1] += weight * value[1];
        }
      }
    }
  }

  for (var h = 0u; h < QUERIES; h++) {  // unroll
    // Groups become one where lanes can reach each other; the first of them goes on.
    merge_groups(h);
    let merged = lane / SPAN;
    workgroupBarrier();
    if (lane % SPAN < LANES) {
      if (part == 0u) {
        group_scores[merged] = vec2(base[h], total[h]);
      }
      for (var i = 0u; i < OWN; i++) {  // unroll
        for (var j = 0u; j < 8u; j++) {  // unroll
          heads[place_in(merged, part + i * LANES, j)] = sums[h * OWN + i][j / 4u][j % 4u];
        }
      }
    }
    workgroupBarrier();
    var best = LOWEST;
    for (var g = 0u; g < MERGED; g++) {  // unroll
      best = max(best, group_scores[g].x);
    }
    var all = 0.0;
    for (var g = 0u; g < MERGED; g++) {  // unroll
      all += exp(group_scores[g].x - best) * group_scores[g].y;
    }
    for (var j = lane; j < HEAD_DIM; j += THREADS) {
      var sum = 0.0;
      for (var g = 0u; g < MERGED; g++) {  // unroll
        sum += exp(group_scores[g].x - best) * heads[place_of(g, j)];
      }
      store_sum(token, group.y, first_head + h, j, sum, all);
    }
    if (lane == 0u) {
      store_score(token, group.y, first_head + h, best, all);
    }
  }
}
