// The exchanges of lanes that share a key, by subgroups of at least SPAN lanes. Neighbouring lanes are
// taken to be in one, which the kernel self-test of a device checks. The loops are unrolled: kept,
// each shuffle would wait for the one before, whatever else there is to do.
fn sum_of_lanes(value: f32, lane: u32) -> f32 {
  var sum = value;
  for (var i = 0u; i < LANE_STEPS; i++) {  // unroll
    sum += subgroupShuffleXor(sum, 1u << i);
  }
  return sum;
}

// Merges the groups of SPAN lanes.
fn merge_groups(h: u32) {
  for (var step = 0u; step < MERGE_STEPS; step++) {  // unroll
    let apart = LANES << step;
    let other = subgroupShuffleXor(base[h], apart);
    let both = max(base[h], other);
    let keep = exp(base[h] - both);
    let take = exp(other - both);
    total[h] = total[h] * keep + take * subgroupShuffleXor(total[h], apart);
    for (var j = 0u; j < OWN; j++) {  // unroll
      let i = h * OWN + j;
      sums[i][0] = sums[i][0] * keep + take * subgroupShuffleXor(sums[i][0], apart);
      sums[i][1] = sums[i][1] * keep + take * subgroupShuffleXor(sums[i][1], apart);
    }
    base[h] = both;
  }
}
