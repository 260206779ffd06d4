// Experts in the order of score and bias, those of the best GROUPS_USED groups before the others.
var<workgroup> values: array<f32, EXPERTS>;
var<workgroup> worths: array<f32, GROUPS>;

fn prepare(row: u32, lane: u32, largest: f32, total: f32) {
  for (var e = lane; e < EXPERTS; e += THREADS) {
    values[e] = score_of(logits[row + e], largest, total) + expert_bias(e);
  }
  workgroupBarrier();
  for (var g = lane; g < GROUPS; g += THREADS) {
    var best = -3.0e38;
    var second = -3.0e38;
    for (var e = g * PER_GROUP; e < (g + 1u) * PER_GROUP; e++) {
      second = max(second, min(best, values[e]));
      best = max(best, values[e]);
    }
    worths[g] = select(best, best + second, BY_TWO == 1u);
  }
  workgroupBarrier();
  for (var e = lane; e < EXPERTS; e += THREADS) {
    if (group_place(e / PER_GROUP) >= GROUPS_USED) {
      values[e] = 0.0;
    }
  }
  workgroupBarrier();
}

fn value_of(row: u32, expert: u32) -> f32 {
  return values[expert];
}

fn group_place(group: u32) -> u32 {
  let own = order_key(worths[group]);
  var place = 0u;
  for (var g = 0u; g < GROUPS; g++) {
    let key = order_key(worths[g]);
    place += u32(key > own || (key == own && g < group));
  }
  return place;
}

