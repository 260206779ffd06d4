// The same as step_attention, for all heads that share a key head at once: each key and value is read
// and unpacked once for them. LANES neighbouring lanes share a key and have a unit of it each. Of the
// HELD queries (a power of two; QUERIES of them count) a lane has the scores of one, `own`; what it
// has of the others stands in the order of own ^ i, so that lanes exchange scores and weights without
// choosing among registers. Contract: step_attention.h
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

// The sum that the lanes of a key have of their products with the queries own ^ i.
fn sum_of_own(products: array<f32, HELD>) -> f32 {
  var sums = products;
  for (var step = 0u; step < HELD_STEPS; step++) {  // unroll
    for (var i = 0u; i < HELD; i++) {  // unroll
      if (i % (2u << step) == 0u) {
        sums[i] += subgroupShuffleXor(sums[(i + (1u << step)) % HELD], 1u << step);
      }
    }
  }
  var sum = sums[0];
  for (var step = 0u; step < LANE_STEPS; step++) {  // unroll
    if (step >= HELD_STEPS) {
      sum += subgroupShuffleXor(sum, 1u << step);
    }
  }
  return sum;
}

// The values of the lane's query and of the queries own ^ i.
fn of_all(value: f32) -> array<f32, HELD> {
  var all: array<f32, HELD>;
  all[0] = value;
  for (var i = 0u; i < HELD; i++) {  // unroll
    if (i > 0u) {
      all[i] = subgroupShuffleXor(value, i);
    }
  }
  return all;
}

fn run(group: vec3<u32>, lane: u32) {
  let kv_head = group.x;
  let first_head = kv_head * QUERIES;
  let part = lane % LANES;
  let own = lane % HELD;
  let own_group = lane / LANES;
  let token = group.z;
  let slot = slot_of_row(token);
  let split = split_of(group.y, token);
  let begin = split.begin;
  let until = split.until;
  begin_split(token, split, first_head, kv_head, lane);
  var query: array<array<vec4<f32>, 2>, HELD>;
  for (var i = 0u; i < HELD; i++) {  // unroll
    query[i] = prepared_unit(min(own ^ i, QUERIES - 1u), part);
    query[i][0] *= SCALE;
    query[i][1] *= SCALE;
  }

  var new_key: CacheUnit;
  var new_value: CacheUnit;
  let has_new = split.has_new;
  if (has_new) {
    new_key = pack_unit(prepared_unit(KEY, part), step_of_head(KEY, part, lane));
    new_value = pack_unit(prepared_unit(VALUE, part), step_of_head(VALUE, part, lane));
    if (own_group == 0u) {
      let cell = cell_of(slot, position_of(token));
      append(cell, 0u, kv_head, part, new_key);
      append(cell, 1u, kv_head, part, new_value);
    }
  }

  var sums: array<array<vec4<f32>, 2>, HELD>;
  for (var i = 0u; i < HELD; i++) {  // unroll
    sums[i] = array(vec4(0.0), vec4(0.0));
  }
  // See step_keys.wgsl; of all queries, since each sum shrinks with its own.
  var bases: array<f32, HELD>;
  for (var i = 0u; i < HELD; i++) {  // unroll
    bases[i] = LOWEST;
  }
  var total = 0.0;
  for (var block = begin; block < until; block += ITERATION_KEYS) {
    let first_key = block + own_group;
    var keys = next_keys;
    var values = next_values;
    if (block + ITERATION_KEYS < until) {
      load_next(slot, first_key + ITERATION_KEYS, until, kv_head, part);
    }
    if (has_new) {
      for (var i = 0u; i < KEYS; i++) {  // unroll
        if (first_key + i * GROUPS >= position_of(token)) {
          keys[i] = new_key;
          values[i] = new_value;
        }
      }
    }
    var scores: array<f32, KEYS>;
    var iteration_largest = UNSEEN;
    for (var k = 0u; k < KEYS; k++) {  // unroll
      let key = unpack_unit(keys[k]);
      var products: array<f32, HELD>;
      for (var i = 0u; i < HELD; i++) {  // unroll
        products[i] = dot(query[i][0], key[0]) + dot(query[i][1], key[1]);
      }
      scores[k] = select(UNSEEN, cap_score(sum_of_own(products)), first_key + k * GROUPS < until);
      iteration_largest = max(iteration_largest, scores[k]);
    }
    let iteration_all = of_all(iteration_largest);
    var rises = false;
    for (var i = 0u; i < HELD; i++) {  // unroll
      rises = rises || iteration_all[i] > bases[i] + LEAD;
    }
    if (rises) {
      for (var i = 0u; i < HELD; i++) {  // unroll
        let now = select(bases[i], iteration_all[i], iteration_all[i] > bases[i] + LEAD);
        let shrink = exp(bases[i] - now);
        bases[i] = now;
        sums[i][0] *= shrink;
        sums[i][1] *= shrink;
        if (i == 0u) {
          total *= shrink;
        }
      }
    }
    for (var k = 0u; k < KEYS; k++) {  // unroll
      let weight = exp(scores[k] - bases[0]);
      total += weight;
      let weights = of_all(weight);
      let value = unpack_unit(values[k]);
      for (var i = 0u; i < HELD; i++) {  // unroll
        sums[i][0] += weights[i] * value[0];
        sums[i][1] += weights[i] * value[1];
      }
    }
  }
  var base = bases[0];

  // Groups of a subgroup become one; the first of them goes on.
  for (var step = 0u; step < MERGE_STEPS; step++) {  // unroll
    let apart = LANES << step;
    let other = subgroupShuffleXor(base, apart);
    let both = max(base, other);
    let keeps = of_all(exp(base - both));
    let takes = of_all(exp(other - both));
    total = total * keeps[0] + takes[0] * subgroupShuffleXor(total, apart);
    for (var i = 0u; i < HELD; i++) {  // unroll
      sums[i][0] = sums[i][0] * keeps[i] + takes[i] * subgroupShuffleXor(sums[i][0], apart);
      sums[i][1] = sums[i][1] * keeps[i] + takes[i] * subgroupShuffleXor(sums[i][1], apart);
    }
    base = both;
  }
  let merged = lane / SPAN * QUERIES;
  workgroupBarrier();
  if (lane % SPAN < LANES) {
    if (part < QUERIES) {
      group_scores[merged + own] = vec2(base, total);
    }
    for (var i = 0u; i < HELD; i++) {  // unroll
      if ((own ^ i) < QUERIES) {
        for (var j = 0u; j < 8u; j++) {  // unroll
          heads[place_in(merged + (own ^ i), part, j)] = sums[i][j / 4u][j % 4u];
        }
      }
    }
  }
  workgroupBarrier();
  for (var n = lane; n < QUERIES * HEAD_DIM; n += THREADS) {
    let h = n / HEAD_DIM;
    var best = LOWEST;
    for (var g = 0u; g < MERGED; g++) {  // unroll
      best = max(best, group_scores[g * QUERIES + h].x);
    }
    var all = 0.0;
    var sum = 0.0;
    for (var g = 0u; g < MERGED; g++) {  // unroll
      let share = exp(group_scores[g * QUERIES + h].x - best);
      all += share * group_scores[g * QUERIES + h].y;
      sum += share * heads[place_of(g * QUERIES + h, n % HEAD_DIM)];
    }
    store_sum(token, group.y, first_head + h, n % HEAD_DIM, sum, all);
    if (n % HEAD_DIM == 0u) {
      store_score(token, group.y, first_head + h, best, all);
    }
  }
}
